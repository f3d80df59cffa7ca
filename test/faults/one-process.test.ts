import { setTimeout as delay } from 'node:timers/promises';
import { DATABASES, type DatabaseOwner } from '@creditlane/platform/services';
import { pickOne } from '@creditlane/runtime/test-seeded-random';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSql } from '../platform/run-sql.ts';
import { type InterruptedPulls, interruptPulls } from './interrupted-pulls.ts';
import { PROFILE, recoveryLimits } from './run-profile.ts';
import { longestWebhookDelayMs, longestWritePauseMs } from './run-summary.ts';
import { type FaultContext, runWithFault } from './run-with-fault.ts';
import { SystemUnderTest } from './system-under-test.ts';

const timeout = PROFILE.testTimeoutMs;
describe('the platform in one process keeps every promise under load', { timeout }, () => {
  let system: SystemUnderTest;
  beforeAll(async () => {
    system = await SystemUnderTest.start();
  });
  /** End what serves the interrupted pulls over several tests. */
  const closers: (() => unknown)[] = [];
  afterAll(async () => {
    for (const close of closers) await close();
    await system.close();
  });

  const run = (name: string, fault: (context: FaultContext) => Promise<void>) =>
    runWithFault({ ...PROFILE, name, system, fault });

  let pulls: InterruptedPulls | undefined;

  test('when its process is killed with SIGKILL and started again', async () => {
    const history = await run('SIGKILL', async ({ crash, noteDelivered, receiver }) => {
      pulls = await interruptPulls(system, (close) => closers.push(close));
      // Hanging requests make sure that most applications have one under way at the kill.
      receiver.setBehaviour(() => 'hang');
      await delay(500);
      await crash(async () => {
        await system.kill();
        await pulls?.afterKill();
        receiver.setBehaviour(() => 'accept');
        await system.withPostgres(noteDelivered);
        await system.restart();
      });
      // The next fault may not interrupt it again.
      await pulls.unsentHasEnded();
    });
    expect(longestWebhookDelayMs(history)).toBeLessThan(recoveryLimits(system.startMs).webhooksMs);
  });

  test('when the PostgreSQL server is killed with SIGKILL', async () => {
    const { pid } = system;
    const { writes } = await run('PostgreSQL killed', async () => {
      process.kill(await system.postmasterPid(), 'SIGKILL');
    });
    expect(system.isRunning && system.pid).toBe(pid);
    expect(longestWritePauseMs(writes)).toBeLessThan(recoveryLimits(system.startMs).writesMs);
  });

  test('when all database connections are terminated several times', async () => {
    await run('connections terminated', async () => {
      for (let times = 0; times < 4; times += 1) {
        for (const owner of Object.keys(DATABASES) as DatabaseOwner[]) {
          await runSql(
            await system.databaseUrl(owner),
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE usename = current_user AND pid <> pg_backend_pid()`,
          );
        }
        await delay(500);
      }
    });
  });

  test('when its process is stopped with SIGSTOP and continued', async () => {
    await run('SIGSTOP', async ({ crash }) => {
      await crash(async () => {
        process.kill(system.pid, 'SIGSTOP');
        await delay(PROFILE.processStopMs);
        process.kill(system.pid, 'SIGCONT');
        await delay(1_000);
      });
    });
  });

  test('when the receiver fails and hangs for a while', async () => {
    await run('receiver outage', async ({ receiver, random }) => {
      receiver.setBehaviour(() => pickOne(random, ['accept', 'fail', 'hang']));
      await delay(PROFILE.receiverOutageMs);
      receiver.setBehaviour(() => 'accept');
    });
  });

  // Comes last: meanwhile the leases of the pulls have ended.
  test('when its process was killed while credit files were pulled, with one inquiry for each', async () => {
    if (pulls === undefined) {
      // This test was selected alone.
      pulls = await interruptPulls(system, (close) => closers.push(close));
      await system.kill();
      await pulls.afterKill();
      await system.restart();
      await pulls.unsentHasEnded();
    }
    await pulls.expectOneInquiryEach();
  });
});
