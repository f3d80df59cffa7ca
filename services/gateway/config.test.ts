import { expect, test } from 'vitest';
import { readConfig, readProcessConfig } from './config.ts';

test('everything of the gateway has a default', () => {
  expect(readConfig({})).toMatchObject({ host: '0.0.0.0', port: 8080, deadlineMs: 10_000 });
});

test('a key withdrawn is never remembered beyond the five seconds promised', () => {
  expect(() => readConfig({ ACCESS_CACHE_TIME: '6s' })).toThrow('ACCESS_CACHE_TIME: ');
});

test('all that a process of its own lacks is named at once', () => {
  expect(() => readProcessConfig({ PORT: 'x' })).toThrow(
    /^PORT: .*\nAPPLICATIONS_ADDRESS: missing\nDECISIONS_ADDRESS: missing\nINTEGRATIONS_ADDRESS: missing\nIDENTITY_KEY: missing$/,
  );
});
