import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { query } from './database-state.ts';
import { oneOf } from './history/seeded-random.ts';
import { FORM, WRITES_BACK_WITHIN_MS } from './run-profile.ts';
import { longestPauseMs, longestWaitMs } from './run-summary.ts';
import { run } from './run-with-fault.ts';
import { Subject } from './system-under-test.ts';

describe('in one process, under load, every promise is kept', { timeout: FORM.timeoutMs }, () => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await Subject.start();
  });
  afterAll(() => subject.close());

  test('when the process is killed with -9 and started again', async () => {
    const history = await run('kill -9', subject, FORM, async ({ crash, note, receiver }) => {
      // Most applications have a request under way when it dies.
      receiver.behave(() => 'hang');
      await sleep(500);
      await crash(async () => {
        await subject.kill();
        receiver.behave(() => 'accept');
        await note();
        await subject.restart();
      });
    });
    expect(longestWaitMs(history)).toBeLessThan(FORM.backWithinMs);
  });

  test('when the server of PostgreSQL is killed with -9', async () => {
    const { pid } = subject;
    const { writes } = await run('PostgreSQL killed', subject, FORM, async () => {
      process.kill(await subject.postmasterPid(), 'SIGKILL');
    });
    expect(subject.isRunning && subject.pid).toBe(pid);
    expect(longestPauseMs(writes)).toBeLessThan(WRITES_BACK_WITHIN_MS);
  });

  test('when all connections to the databases are cut, again and again', async () => {
    await run('backends terminated', subject, FORM, async () => {
      for (let times = 0; times < 4; times += 1) {
        for (const owner of ['decisions', 'webhook-dispatcher', 'integrations'] as const) {
          await query(
            await subject.databaseUrl(owner),
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()',
          );
        }
        await sleep(500);
      }
    });
  });

  test('when the process is stopped for a while and goes on', async () => {
    await run('SIGSTOP', subject, FORM, async ({ crash }) => {
      await crash(async () => {
        process.kill(subject.pid, 'SIGSTOP');
        await sleep(FORM.stopMs);
        process.kill(subject.pid, 'SIGCONT');
        await sleep(1_000);
      });
    });
  });

  test('when the receiver fails and hangs for a while', async () => {
    await run('receiver away', subject, FORM, async ({ receiver, random }) => {
      receiver.behave(() => oneOf(random, ['accept', 'fail', 'hang']));
      await sleep(FORM.awayMs);
      receiver.behave(() => 'accept');
    });
  });
});
