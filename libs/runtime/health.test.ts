import { expect, test } from 'vitest';
import { Health } from './health.ts';

test('a process is ready when every part says so', () => {
  const health = new Health();
  health.add('database', () => true);
  expect(health.ready()).toEqual({ ready: true, checks: { database: 'ok' } });
});

test('a part that is not fit says why, and the others still answer', () => {
  const health = new Health();
  health.add('database', () => 'no connection');
  health.add('bus', () => false);
  health.add('relay', () => true);
  expect(health.ready()).toEqual({
    ready: false,
    checks: { database: 'no connection', bus: 'not ready', relay: 'ok' },
  });
});

test('a draining process is alive but not ready', () => {
  const health = new Health();
  health.drain();
  expect(health.ready()).toEqual({ ready: false, checks: { process: 'draining' } });
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
  expect(health.ready()).toEqual({ ready: false, checks: { database: 'no connection' } });
});
