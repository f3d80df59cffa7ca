import { expect, test } from 'vitest';
import { Health } from './health.ts';
import { Metrics } from './telemetry/metrics.ts';

test('a process is ready when every part says so', () => {
  const health = new Health();
  health.add('database', () => true);
  expect(health.ready()).toEqual({ ready: true, degraded: false, checks: { database: 'ok' } });
});

test('a part that is not fit says why, and the others still answer', () => {
  const health = new Health();
  health.add('database', () => 'no connection');
  health.add('bus', () => false);
  health.add('relay', () => true);
  expect(health.ready()).toEqual({
    ready: false,
    degraded: false,
    checks: { database: 'no connection', bus: 'not ready', relay: 'ok' },
  });
});

test('what no answer waits for is told of and keeps no work away', () => {
  const health = new Health();
  health.add('database', () => true);
  health.optional.add('bus', () => 'not consuming');
  const checks = { database: 'ok', bus: 'not consuming' };
  expect(health.ready()).toEqual({ ready: true, degraded: true, checks });
});

test('each check is a figure', async () => {
  const [health, metrics] = [new Health(), new Metrics()];
  health.add('database', () => true);
  health.optional.add('bus', () => 'not consuming');
  health.exportMetrics(metrics);
  const told = await metrics.text();
  expect(told).toContain('creditlane_health_check{check="database"} 1');
  expect(told).toContain('creditlane_health_check{check="bus"} 0');
});

test('a draining process is alive but not ready', () => {
  const health = new Health();
  health.drain();
  expect(health.ready()).toEqual({
    ready: false,
    degraded: false,
    checks: { process: 'draining' },
  });
  expect(health.live()).toEqual({ live: true });
});

test('a check that throws counts as not ready and keeps its message to itself', () => {
  const health = new Health();
  health.add('database', () => {
    throw new TypeError('postgres://user:canary@db');
  });
  expect(health.ready().checks).toEqual({ database: 'check failed: TypeError' });
});

test('parts of one name are ready together', () => {
  const health = new Health();
  health.add('database', () => 'no connection');
  health.add('database', () => true);
  expect(health.ready()).toEqual({
    ready: false,
    degraded: false,
    checks: { database: 'no connection' },
  });
});
