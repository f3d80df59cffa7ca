// The shapes in which the platform keeps its promises; CREDITLANE_WORLD chooses one.

import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { openTestKafka } from '@creditlane/events/kafka/test-kafka';
import { TOPICS } from '@creditlane/events/topics';
import { HOST } from '@creditlane/local/host';
import { type Platform, startPlatform } from '@creditlane/local/platform';
import { choosePorts } from '@creditlane/local/ports';
import type { PlatformSettings } from '@creditlane/local/settings';
import { startFleet } from '@creditlane/processes/fleet';
import { portsNeeded } from '@creditlane/processes/instances';
import type { Process } from '@creditlane/runtime/run';

/** A platform whose figures can be read. */
export type MeasuredHouse = Platform & { metrics(): Promise<string> };

type Settings = Omit<PlatformSettings, 'ports'>;

/** Starts the platform in the shape asked for; undefined when that needs a Kafka, and there is none. */
export function startShape(settings: Settings, life: Process): Promise<MeasuredHouse | undefined> {
  const shape = process.env.CREDITLANE_WORLD ?? 'one-process';
  if (shape === 'one-process') return startOneProcess(settings, life);
  if (shape === 'processes') return startProcesses(settings, life);
  throw new Error(`CREDITLANE_WORLD may be one-process or processes, not "${shape}"`);
}

async function startOneProcess(settings: Settings, life: Process): Promise<MeasuredHouse> {
  const platform = await startPlatform({ ...settings, ports: await choosePorts(0, HOST) }, life);
  return { ...platform, metrics: () => life.metrics.text() };
}

/** Each service by itself, with topics and groups of its own in the test run's Kafka. */
async function startProcesses(
  settings: Settings,
  life: Process,
): Promise<MeasuredHouse | undefined> {
  const kafka = await openTestKafka();
  if (kafka === undefined) return undefined;
  life.closers.add('Kafka', kafka.close);
  const config = await kafka.makeConfig(TOPICS['creditlane.decisions.v1'].partitions);
  await ensureTopics({ config, log: life.log });
  const fleet = await startFleet(
    {
      ...settings,
      ports: await choosePorts(0, HOST, portsNeeded({})),
      kafka: {
        KAFKA_BROKERS: config.brokers.join(','),
        KAFKA_PREFIX: config.prefix,
        KAFKA_REPLICATION: String(config.replication),
      },
      everywhere: { LOG_LEVEL: 'error' },
      write: (text) => void process.stderr.write(text),
    },
    life,
  );
  return {
    ...fleet,
    async metrics() {
      const pages = Object.values(fleet.services()).map(({ opsUrl }) => fetch(`${opsUrl}/metrics`));
      const texts = await Promise.all(pages.map(async (page) => (await page).text()));
      return texts.join('\n');
    },
  };
}
