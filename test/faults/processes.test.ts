import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWithKafka } from '@creditlane/events/kafka/test-kafka';
import { type DatabaseOwner, SERVICES } from '@creditlane/platform/services';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../platform/eventually.ts';
import { whileHeld } from './database-state.ts';
import { KafkaUnderFault } from './kafka-under-test.ts';
import { FORM, isLong, WRITES_BACK_WITHIN_MS } from './run-profile.ts';
import { longestPauseMs, longestWaitMs } from './run-summary.ts';
import { run } from './run-with-fault.ts';
import { Subject } from './system-under-test.ts';

const execute = promisify(execFile);
const REDRIVE = fileURLToPath(new URL('../../libs/messaging/redrive.ts', import.meta.url));
const NAMES = SERVICES.map(({ name }) => name);
const BROKERS = isLong ? 3 : 1;

const kafka = await KafkaUnderFault.start(BROKERS);

describeWithKafka(kafka, 'in processes, under load, every promise is kept', (cluster) => {
  let subject: Subject;
  beforeAll(async () => {
    const replicas = ['--replicas', 'decisions=2', '--replicas', 'webhook-dispatcher=2'];
    subject = await Subject.start({ start: 'processes/up.ts', args: replicas, env: cluster.env });
  }, FORM.timeoutMs);
  afterAll(async () => {
    await subject.close();
    await cluster.close();
  });
  const promise = (title: string, proof: () => Promise<void>) =>
    test(title, { timeout: FORM.timeoutMs }, proof);

  /** Lets processes stand still together, and go on. */
  const freeze = async (names: string[], forMs: number) => {
    const pids = await Promise.all(names.map(async (name) => (await subject.service(name)).pid));
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await sleep(forMs);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  };

  /** As an operator does it, in less time: a broker without topics refuses at once. */
  const redrive = async (owner: DatabaseOwner, since: string) => {
    const url = await subject.databaseUrl(owner);
    const env = { DATABASE_URL: url, REDRIVE_SINCE: since, REDRIVE_WAIT: '6s' };
    process.stdout.write((await execute(process.execPath, [REDRIVE], { env })).stdout);
  };

  promise('when each service is killed with -9 in turn', async () => {
    const history = await run('kill -9 of each', subject, FORM, async ({ crash, note }) => {
      for (const name of NAMES) {
        const end = () => subject.endService(name, 'SIGKILL');
        // Only the dispatcher has requests under way at the receiver.
        await (name === 'webhook-dispatcher' ? crash(end) : end());
        await note();
      }
    });
    expect(longestPauseMs(history.writes)).toBeLessThan(WRITES_BACK_WITHIN_MS);
    expect(longestWaitMs(history)).toBeLessThan(FORM.backWithinMs);
  });

  /** What a process says of itself, by the beginning of its line. */
  const metric = async (name: string, line: string) => {
    const { opsUrl } = await subject.service(name);
    const text = await (await fetch(`${opsUrl}/metrics`)).text();
    const found = text.split('\n').find((it) => it.startsWith(`creditlane_${line}`));
    return Number(found?.split(' ').at(-1) ?? 0);
  };
  const sentAgain = () =>
    metric('gateway', 'rpc_client_retries_total{peer="decisions",outcome="sent_again"}');
  const written = (name: string) =>
    metric(
      name,
      'rpc_requests_total{service="creditlane.decisions.v1.DecisionsService",method="RecordDecision",code="ok"}',
    );

  promise(
    'when replicas are killed with -9 under writes without a key, of which none fails',
    async () => {
      const before = await sentAgain();
      // Few enough for all that gathers to be written before anyone has waited for too long.
      const options = { ...FORM, perSecond: 20, keyless: true };
      const { writes } = await run('kill -9, no keys', subject, options, async () => {
        const url = await subject.databaseUrl('decisions');
        // What the dead one had sent goes on in the database: before the second attempt, or beside it.
        for (const [name, heldForMs] of [
          ['decisions', 0],
          ['decisions-2', 200],
        ] as const) {
          let back: Promise<void> | undefined;
          await whileHeld(url, async (waiting) => {
            await waiting(4);
            back = subject.endService(name, 'SIGKILL');
            await sleep(heldForMs);
          });
          await back;
          // Not before the gateway has found it again may the other one die.
          await eventually(`writes to ${name}`, async () => (await written(name)) > 0 || undefined);
        }
      });
      expect(writes.filter(({ outcome }) => outcome === 'unknown')).toEqual([]);
      expect(await sentAgain()).toBeGreaterThan(before);
    },
  );

  promise('when relay and dispatcher stand still for a while and others take over', async () => {
    await run('SIGSTOP', subject, FORM, async ({ crash }) => {
      await crash(async () => {
        await freeze(['decisions', 'webhook-dispatcher'], FORM.stopMs);
        await sleep(1_000);
      });
    });
  });

  promise('when the members of the group change while delivering', async () => {
    await run('rebalance', subject, FORM, async () => {
      for (let times = 0; times < FORM.rebalances; times += 1) {
        const name = times % 2 === 0 ? 'webhook-dispatcher' : 'webhook-dispatcher-2';
        await subject.endService(name, 'SIGTERM');
      }
    });
  });

  for (let down = 1; down <= BROKERS; down += 1) {
    promise(`when ${down} of ${BROKERS} brokers are away for a while`, async () => {
      const { writes } = await run(`${down} brokers down`, subject, FORM, () =>
        cluster.without(down, () => sleep(FORM.kafkaAwayMs)),
      );
      // Callers notice nothing.
      expect(writes.filter(({ requests }) => requests > 1)).toEqual([]);
    });
  }

  promise('when Kafka loses all its data and is filled again from the outbox', async () => {
    const since = new Date().toISOString();
    const { writes } = await run('Kafka wiped', subject, FORM, async ({ crash }) => {
      // What they would have taken in is in Kafka alone when it goes.
      const dispatchers = ['webhook-dispatcher', 'webhook-dispatcher-2'];
      await crash(async () => {
        const lost = freeze(dispatchers, 2_000);
        await sleep(1_500);
        await cluster.wipe();
        await lost;
      });
      await Promise.all((['applications', 'decisions'] as const).map((it) => redrive(it, since)));
      await cluster.makeTopics();
    });
    expect(writes.filter(({ requests }) => requests > 1)).toEqual([]);
  });
});
