// The platform's two run modes for tests: in one process, or each service in a process of its own.
import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { openTestKafka } from '@creditlane/events/kafka/test-kafka';
import { TOPICS } from '@creditlane/events/topics';
import { HOST } from '@creditlane/local/host';
import { type Platform, startPlatform } from '@creditlane/local/platform';
import { choosePorts } from '@creditlane/local/ports';
import type { PlatformSettings } from '@creditlane/local/settings';
import { portsNeeded } from '@creditlane/processes/instances';
import { startProcessPlatform } from '@creditlane/processes/process-platform';
import type { Process } from '@creditlane/runtime/run';

/** A running platform; `metrics` returns the /metrics pages of all its processes. */
export type RunningPlatform = Platform & { metrics(): Promise<string> };

type Settings = Omit<PlatformSettings, 'ports'>;

/**
 * Starts the platform in the run mode that CREDITLANE_TEST_RUN_MODE names, `one-process` by default.
 * Resolves with undefined when the run mode `processes` finds no Kafka on this machine.
 */
export function startInRunMode(
  settings: Settings,
  testProcess: Process,
): Promise<RunningPlatform | undefined> {
  const runMode = process.env.CREDITLANE_TEST_RUN_MODE ?? 'one-process';
  if (runMode === 'one-process') return startOneProcess(settings, testProcess);
  if (runMode === 'processes') return startProcesses(settings, testProcess);
  throw new Error(
    `CREDITLANE_TEST_RUN_MODE is "${runMode}"; it must be "one-process" or "processes"`,
  );
}

async function startOneProcess(settings: Settings, testProcess: Process): Promise<RunningPlatform> {
  const ports = await choosePorts({ first: 0, host: HOST });
  const platform = await startPlatform({ ...settings, ports }, testProcess);
  return { ...platform, metrics: () => testProcess.metrics.text() };
}

/** Uses topics and consumer groups of its own in the test run's Kafka. */
async function startProcesses(
  settings: Settings,
  testProcess: Process,
): Promise<RunningPlatform | undefined> {
  const kafka = await openTestKafka();
  if (kafka === undefined) return undefined;
  testProcess.closers.add('Kafka', kafka.close);
  const config = await kafka.makeConfig(TOPICS['creditlane.decisions.v1'].partitions);
  await ensureTopics({ config, log: testProcess.log });
  const platform = await startProcessPlatform(
    {
      ...settings,
      ports: await choosePorts({ first: 0, host: HOST, services: portsNeeded({}) }),
      kafka: {
        KAFKA_BROKERS: config.brokers.join(','),
        KAFKA_PREFIX: config.prefix,
        KAFKA_REPLICATION: String(config.replication),
      },
      commonSettings: { LOG_LEVEL: 'error' },
      write: (text) => void process.stderr.write(text),
    },
    testProcess,
  );
  return {
    ...platform,
    async metrics() {
      const urls = Object.values(platform.services()).map(({ opsUrl }) => `${opsUrl}/metrics`);
      const pages = urls.map(async (url) => (await fetch(url)).text());
      return (await Promise.all(pages)).join('\n');
    },
  };
}
