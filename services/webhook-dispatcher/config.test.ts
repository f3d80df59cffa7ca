import { ConfigError } from '@creditlane/runtime/env';
import { expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { RETRY_DELAYS_MS } from './sending/schedule.ts';

const needed = { DATABASE_URL: 'postgres://localhost/webhooks' };

it('lets nothing but https to public addresses out, and keeps the contract’s schedule, unless told so', () => {
  const config = readConfig(needed);
  expect(config.egress).toEqual({ allowHttp: false, allowLoopback: false, ports: [443, 8443] });
  expect(config).toMatchObject({
    retryDelaysMs: RETRY_DELAYS_MS,
    deadlineMs: 15_000,
    holdMs: 3_600_000,
  });
});

it('reads a schedule of its own', () => {
  expect(readConfig({ ...needed, RETRY_DELAYS: '200ms, 5s,2h' }).retryDelaysMs).toEqual([
    200, 5_000, 7_200_000,
  ]);
});

it('tells all faults at once', () => {
  const env = { RETRY_DELAYS: '5 seconds', EGRESS_PORTS: '443,http', LEASE: '1h' };
  try {
    readConfig(env);
    expect.unreachable();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.faults.map((fault) => fault.split(':')[0])).toEqual([
      'DATABASE_URL',
      'EGRESS_PORTS',
      'RETRY_DELAYS',
      'LEASE',
    ]);
  }
});
