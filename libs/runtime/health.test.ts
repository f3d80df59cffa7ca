import { expect, test } from 'vitest';
import { Health } from './health.ts';
import { Metrics } from './telemetry/metrics.ts';

test('a process is ready when every check succeeds', () => {
  const health = new Health();
  health.add('database', () => true);
  expect(health.ready()).toEqual({ ready: true, degraded: false, checks: { database: 'ok' } });
});

test('a failed check gives its reason, and the other checks still run', () => {
  const health = new Health();
  health.add('database', () => 'no connection');
  health.add('bus', () => 'stopped');
  health.add('relay', () => true);
  expect(health.ready()).toEqual({
    ready: false,
    degraded: false,
    checks: { database: 'no connection', bus: 'stopped', relay: 'ok' },
  });
});

test('a failed optional check makes the process degraded and keeps it ready', () => {
  const health = new Health();
  health.add('database', () => true);
  health.optional.add('bus', () => 'not consuming');
  const checks = { database: 'ok', bus: 'not consuming' };
  expect(health.ready()).toEqual({ ready: true, degraded: true, checks });
});

test('each check is a metric', async () => {
  const [health, metrics] = [new Health(), new Metrics()];
  health.add('database', () => true);
  health.optional.add('bus', () => 'not consuming');
  health.exportMetrics(metrics);
  const text = await metrics.text();
  expect(text).toContain('creditlane_health_check{check="database"} 1');
  expect(text).toContain('creditlane_health_check{check="bus"} 0');
});

test('a draining process is not ready', () => {
  const health = new Health();
  health.drain();
  expect(health.ready()).toEqual({
    ready: false,
    degraded: false,
    checks: { process: 'draining' },
  });
});

test('a check that throws fails, and its message is not shown', () => {
  const health = new Health();
  health.add('database', () => {
    throw new TypeError('postgres://user:canary@db');
  });
  expect(health.ready().checks).toEqual({ database: 'check failed: TypeError' });
});

test('checks of one name succeed only together', () => {
  const health = new Health();
  health.add('database', () => 'no connection');
  health.add('database', () => true);
  expect(health.ready()).toEqual({
    ready: false,
    degraded: false,
    checks: { database: 'no connection' },
  });
});
