import { ConfigError, type Env } from '@creditlane/runtime/env';
import { readSettings } from '@creditlane/runtime/setting';
import { localSettings } from '@creditlane/service/settings';
import { expect, test } from 'vitest';
import { webhookDispatcher } from './service.ts';

const read = (env: Env) => readSettings(env, localSettings(webhookDispatcher)).own;

const needed = { DATABASE_URL: 'postgres://localhost/webhooks' };

test('without settings only https to public addresses is allowed, and the default schedule has ten attempts over about 75 hours', () => {
  const settings = read(needed);
  expect(settings.egress).toEqual({ allowHttp: false, allowLoopback: false, ports: [443, 8443] });
  expect(settings).toMatchObject({
    deadlineMs: 15_000,
    holdMs: 3_600_000,
  });
  expect(settings.retryDelaysMs).toHaveLength(9);
  const totalMs = settings.retryDelaysMs.reduce((sum, delayMs) => sum + delayMs, 0);
  expect(Math.floor(totalMs / 3_600_000)).toBe(75);
});

test('with RETRY_DELAYS the schedule is the given one', () => {
  expect(read({ ...needed, RETRY_DELAYS: '200ms, 5s,2h' }).retryDelaysMs).toEqual([
    200, 5_000, 7_200_000,
  ]);
});

test.each([
  ['RETRY_DELAYS', '5s,3651d', 'RETRY_DELAYS: must be time spans of at most 3650d'],
  ['DISABLE_AFTER', '3651d', 'DISABLE_AFTER: must be a time span'],
])('with a longer %s than %s may be, the start is refused', (name, value, problem) => {
  expect(() => read({ ...needed, [name]: value })).toThrow(problem);
});

test('with several problems the error lists all of them', () => {
  const env = { RETRY_DELAYS: '5 seconds', EGRESS_PORTS: '443,http', LEASE: '1h' };
  try {
    read(env);
    expect.unreachable();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.problems.map((problem) => problem.split(':')[0])).toEqual([
      'DATABASE_URL',
      'EGRESS_PORTS',
      'RETRY_DELAYS',
      'LEASE',
    ]);
  }
});
