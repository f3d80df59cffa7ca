import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWithKafka } from '@creditlane/events/kafka/test-kafka';
import { type DatabaseOwner, SERVICES } from '@creditlane/platform/services';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../platform/eventually.ts';
import { expectServedWithoutKafka } from './kafka-outage.ts';
import { KafkaUnderTest } from './kafka-under-test.ts';
import { PUBLISHERS, withLockedSubmissions } from './run-databases.ts';
import { isLongRun, PROFILE, recoveryLimits } from './run-profile.ts';
import { longestWebhookDelayMs, longestWritePauseMs } from './run-summary.ts';
import { type FaultRun, runWithFault } from './run-with-fault.ts';
import { SystemUnderTest } from './system-under-test.ts';

const execute = promisify(execFile);
const SERVICES_DIR = fileURLToPath(new URL('../../services/', import.meta.url));
const BROKERS = isLongRun ? 3 : 1;
/** More than the gateway's deadline for a request: callers repeat only what is refused, on a slow machine, too. */
const PATIENT = { requestTimeoutMs: 15_000 };

const kafka = await KafkaUnderTest.start(BROKERS);

describeWithKafka(kafka, 'the platform in processes keeps every promise under load', (cluster) => {
  let system: SystemUnderTest;
  beforeAll(async () => {
    const args = ['--replicas', 'decisions=2', '--replicas', 'webhook-dispatcher=2'];
    system = await SystemUnderTest.start({ program: 'processes/up.ts', args, env: cluster.env });
  }, PROFILE.testTimeoutMs);
  afterAll(async () => {
    await system.close();
    await cluster.close();
  });
  const faultTest = (title: string, body: () => Promise<void>) =>
    test(title, { timeout: PROFILE.testTimeoutMs }, body);
  const run = (name: string, fault: FaultRun['fault'], options: Partial<FaultRun> = {}) =>
    runWithFault({ ...PROFILE, name, system, fault, ...options });

  /** Stops processes with SIGSTOP at the same time, and continues them after `stopMs`. */
  const stopProcesses = async (names: string[], stopMs: number) => {
    const pids = await Promise.all(names.map(async (name) => (await system.service(name)).pid));
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await delay(stopMs);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  };

  /** Runs the operators' command; the wait is shorter because a broker without topics refuses at once. */
  const republish = async (owner: DatabaseOwner, since: string) => {
    const main = join(SERVICES_DIR, owner, 'main.ts');
    const args = [main, '--republish-outbox', '--since', since, '--wait-seconds', '6'];
    const env = await system.settingsOf(owner);
    process.stdout.write((await execute(process.execPath, args, { env })).stdout);
  };

  // The demo data have no decision, and the services are the processes that the platform was started with.
  faultTest('when Kafka is down, which all replicas report while they answer and stay ready', () =>
    expectServedWithoutKafka(system, (work) => cluster.withoutBrokers(BROKERS, work)),
  );

  faultTest('when each service is killed with SIGKILL, one after the other', async () => {
    const history = await run('SIGKILL of each service', async ({ crash, noteDelivered }) => {
      for (const { name } of SERVICES) {
        const kill = () => system.restartService(name, 'SIGKILL');
        // Only the dispatcher has requests under way at the receiver.
        await (name === 'webhook-dispatcher' ? crash(kill) : kill());
        await noteDelivered();
      }
    });
    const { writesMs, webhooksMs } = recoveryLimits(system.startMs);
    expect(longestWritePauseMs(history.writes)).toBeLessThan(writesMs);
    expect(longestWebhookDelayMs(history)).toBeLessThan(webhooksMs);
  });

  /** The value of the first sample of a process's /metrics that starts with `sample`; 0 without one. */
  const readMetric = async (processName: string, sample: string) => {
    const { opsUrl } = await system.service(processName);
    const text = await (await fetch(`${opsUrl}/metrics`)).text();
    const line = text.split('\n').find((it) => it.startsWith(`creditlane_${sample}`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  const countRepeatedCalls = () =>
    readMetric('gateway', 'rpc_client_retries_total{peer="decisions",outcome="sent_again"}');
  const countWrites = (processName: string) =>
    readMetric(
      processName,
      'rpc_requests_total{service="creditlane.decisions.v1.DecisionsService",method="RecordDecision",code="ok"}',
    );

  faultTest(
    'when replicas are killed with SIGKILL under writes without a key, and none of these fails',
    async () => {
      const repeatedBefore = await countRepeatedCalls();
      const fault = async () => {
        const url = await system.databaseUrl('decisions');
        // PostgreSQL goes on with what the killed replica had sent: with `unlockAfterMs` 0 before the
        // gateway's second attempt, with 200 at the same time.
        for (const { name, unlockAfterMs } of [
          { name: 'decisions', unlockAfterMs: 0 },
          { name: 'decisions-2', unlockAfterMs: 200 },
        ]) {
          let restarted: Promise<void> | undefined;
          await withLockedSubmissions(url, async (waitForBlocked) => {
            await waitForBlocked(4);
            restarted = system.restartService(name, 'SIGKILL');
            await delay(unlockAfterMs);
          });
          await restarted;
          // The gateway must have found the new process before the other one is killed.
          await eventually(
            `writes to ${name}`,
            async () => (await countWrites(name)) > 0 || undefined,
            PROFILE.giveUpAfterMs,
          );
        }
      };
      // At this rate all blocked writes are written before any of their deadlines.
      const { writes } = await run('SIGKILL without keys', fault, {
        perSecond: 20,
        withoutKeys: true,
      });
      expect(writes.filter(({ outcome }) => outcome === 'unknown')).toEqual([]);
      expect(await countRepeatedCalls()).toBeGreaterThan(repeatedBefore);
    },
  );

  faultTest('when relay and dispatcher are stopped and other replicas take over', async () => {
    await run('SIGSTOP', async ({ crash }) => {
      await crash(async () => {
        await stopProcesses(['decisions', 'webhook-dispatcher'], PROFILE.processStopMs);
        await delay(1_000);
      });
    });
  });

  faultTest('when members of the consumer group are restarted while delivering', async () => {
    await run('rebalance', async () => {
      for (let times = 0; times < PROFILE.rebalances; times += 1) {
        const name = times % 2 === 0 ? 'webhook-dispatcher' : 'webhook-dispatcher-2';
        await system.restartService(name, 'SIGTERM');
      }
    });
  });

  for (let down = 1; down <= BROKERS; down += 1) {
    faultTest(`when ${down} of ${BROKERS} brokers are down for a while`, async () => {
      const fault: FaultRun['fault'] = ({ waitForWrite }) =>
        cluster.withoutBrokers(down, async () => {
          await waitForWrite();
          await delay(PROFILE.kafkaOutageMs);
          await waitForWrite();
        });
      const { writes } = await run(`${down} brokers down`, fault, PATIENT);
      // No caller had to repeat a request.
      expect(writes.filter(({ requests }) => requests > 1)).toEqual([]);
    });
  }

  faultTest('when Kafka loses all its data and is refilled from the outboxes', async () => {
    const since = new Date().toISOString();
    const fault: FaultRun['fault'] = async ({ crash, waitForWrite }) => {
      // Stopped dispatchers leave events that are only in Kafka when Kafka loses its data.
      const dispatchers = ['webhook-dispatcher', 'webhook-dispatcher-2'];
      await crash(async () => {
        const stopped = stopProcesses(dispatchers, 2_000);
        await delay(1_500);
        await cluster.replaceWithEmpty();
        await stopped;
      }, dispatchers.length);
      await waitForWrite();
      await Promise.all(PUBLISHERS.map((owner) => republish(owner, since)));
      await waitForWrite();
      await cluster.makeTopics();
    };
    const { writes } = await run('Kafka emptied', fault, PATIENT);
    expect(writes.filter(({ requests }) => requests > 1)).toEqual([]);
  });
});
