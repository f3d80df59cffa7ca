import { readSettings } from '@creditlane/runtime/setting';
import { localSettings, processSettings } from '@creditlane/service/settings';
import { expect, onTestFinished, test } from 'vitest';
import { openApiDocument } from './document/openapi-document.ts';
import { operationsOf } from './document/operation.ts';
import { gateway } from './service.ts';
import { startTestGateway } from './test-gateway.ts';

const read = (env: Record<string, string>) => readSettings(env, localSettings(gateway)).own;

test('every setting of the gateway has a default', () => {
  expect(read({})).toMatchObject({ host: '0.0.0.0', port: 8080, deadlineMs: 10_000 });
});

test('a cache time above its maximum is refused, so that a revoked key is refused within five seconds', () => {
  expect(() => read({ ACCESS_CACHE_TIME: '6s' })).toThrow('ACCESS_CACHE_TIME: ');
});

test('all missing settings of a process are reported at once', () => {
  expect(() => readSettings({ PORT: 'x' }, processSettings(gateway))).toThrow(
    /^PORT: .*\nAPPLICATIONS_ADDRESS: missing\nCONVERSATIONS_ADDRESS: missing\nCREDIT_FILE_ADDRESS: missing\nDECISIONS_ADDRESS: missing\nINTEGRATIONS_ADDRESS: missing\nWEBHOOK_DISPATCHER_ADDRESS: missing\nIDENTITY_KEY: missing$/,
  );
});

test('without settings, CLOSE_GRACE is longer than any request may take but a read that the close ends', () => {
  const { deadlineMs, graceMs } = read({});
  const others = operationsOf(openApiDocument()).filter(({ id }) => id !== 'readCreditFile');
  const longestMs = Math.max(...others.map(({ timeoutMs = deadlineMs }) => timeoutMs));
  expect(longestMs).toBe(20_000);
  expect(graceMs).toBeGreaterThan(longestMs);
});

test('the gateway has the time of CLOSE_GRACE to close, and a second to cut connections', async () => {
  const gatewayUnderTest = await startTestGateway({ graceMs: 60_000 });
  onTestFinished(gatewayUnderTest.close);
  // Each other part has 10 s.
  expect(gatewayUnderTest.process.closers.extraMs).toBe(60_000 + 1_000 - 10_000);
});
