// Access that is withdrawn while the body of a request is on the way, or while a read waits.
import { setTimeout as delay } from 'node:timers/promises';
import { digestApiKey } from '@creditlane/crypto/api-key';
import { Caller } from '@creditlane/proto/common/v1/access';
import { PullState, Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';
import { openTestSocket, requestText } from '../test-socket.ts';

const CACHE_MS = 200;
/** Longer than the cache holds a key, and than a body takes that comes at once. */
const SLOW_BODY_MS = 400;

const gateway = await startTestGateway({ accessCacheMs: CACHE_MS });
afterAll(() => gateway.close());

/** Sends the head and one byte of the body, calls `change`, and sends the rest later. */
async function sendSlowly(line: string, key: string, body: object, change: () => void) {
  const text = JSON.stringify(body);
  const headers = ['Host: gateway', 'Connection: close', `Authorization: ${key}`];
  const ofBody = ['Content-Type: application/json', `Content-Length: ${text.length}`];
  const head = requestText(line, [...headers, ...ofBody], text.slice(0, 1));
  const lookups = gateway.services.called('authenticate').length;
  const { socket, closed } = await openTestSocket(gateway.port, head);
  await expect.poll(() => gateway.services.called('authenticate').length).toBe(lookups + 1);
  change();
  await delay(SLOW_BODY_MS);
  socket.write(text.slice(1));
  return closed;
}

const decision = { applicationId: gateway.ids.application, decision: 'BOOKED' };

test('a key revoked while its body is on the way does not write', async () => {
  const key = gateway.services.issue(Caller.INTEGRATION, gateway.ids.integration);
  const answer = await sendSlowly(`POST ${gateway.decisionPath}`, key, decision, () => {
    gateway.services.keys.delete(digestApiKey(key).toString('hex'));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  expect(gateway.services.called('recordDecision')).toHaveLength(0);
});

test('a permission withdrawn while the body is on the way does not write', async () => {
  const id = newId();
  const key = gateway.services.issue(Caller.PLATFORM, id, ['MANAGE_DIRECTORY']);
  const line = `PUT /v1/platform/creditors/${newId()}`;
  const answer = await sendSlowly(line, key, { name: 'First Prairie Finance' }, () => {
    const digest = digestApiKey(key).toString('hex');
    gateway.services.keys.set(digest, { id, caller: Caller.PLATFORM, permissions: [] });
  });
  expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  expect(gateway.services.called('registerCreditor')).toHaveLength(0);
});

test('a key that stays valid writes, however slowly its body comes', async () => {
  const key = gateway.services.issue(Caller.INTEGRATION, gateway.ids.integration);
  const answer = await sendSlowly(`POST ${gateway.decisionPath}`, key, decision, () => {});
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(gateway.services.called('recordDecision')).toHaveLength(1);
});

describe('a read that has waited for its pull', () => {
  const { application, applicant, integration, retailer } = gateway.ids;
  const path = `/v1/applications/${application}/credit-file/${applicant}`;
  const pull = { id: newId(), source: Source.EQUIFAX, state: PullState.COMPLETE };
  const sin = '046454286';

  /** Starts a read, calls `change` while it waits, and lets it go on when no cache has the access of before. */
  async function readSlowly(permissions: string[], change: (digest: string) => void) {
    gateway.services.calls.length = 0;
    const file = { hitType: 'HIT', subject: { sin } };
    gateway.services.creditFiles.set(applicant, { pull, file });
    const key = gateway.services.issue(Caller.INTEGRATION, integration, permissions);
    const waited = Promise.withResolvers<void>();
    gateway.services.gates.readCreditFile.push(() => waited.promise);
    const answer = gateway.send('GET', path, { key, headers: { Prefer: 'wait=20' } });
    const reads = () => gateway.services.called('readCreditFile');
    await expect.poll(() => reads().length).toBe(1);
    change(digestApiKey(key).toString('hex'));
    await delay(SLOW_BODY_MS);
    waited.resolve();
    return { answer: await answer, reads: reads().map(({ request }) => request) };
  }

  test('reads again with the access that it has then', async () => {
    const { answer, reads } = await readSlowly(['READ_SIN'], () => {});
    expect(answer.status).toBe(200);
    expect(answer.headers.get('preference-applied')).toBe('wait=20');
    expect(answer.json.subject.sin).toBe(sin);
    expect(reads).toMatchObject([{ waitMs: 20_000 }, { waitMs: 0, unmasked: true }]);
  });

  test.each([
    ['this version', false],
    ['the version before, which answers with the file', true],
  ])('at a service of %s is 401 when its key was revoked meanwhile', async (_, asBefore) => {
    gateway.services.readsWaitAsBefore = asBefore;
    const { answer, reads } = await readSlowly(['READ_SIN'], (digest) => {
      gateway.services.keys.delete(digest);
    });
    gateway.services.readsWaitAsBefore = false;
    expect(answer.status).toBe(401);
    expect(reads).toHaveLength(1);
  });

  test('is masked when the permission to read social insurance numbers was withdrawn meanwhile', async () => {
    const { reads } = await readSlowly(['READ_SIN'], (digest) => {
      const id = integration;
      gateway.services.keys.set(digest, { id, caller: Caller.INTEGRATION, permissions: [] });
    });
    expect(reads).toMatchObject([{ unmasked: true }, { waitMs: 0, unmasked: false }]);
  });

  test('is 404 when the grant on the retailer was withdrawn meanwhile', async () => {
    const { grants } = gateway.services;
    const { answer } = await readSlowly([], () => grants.delete(`${integration} ${retailer}`));
    grants.add(`${integration} ${retailer}`);
    expect(answer.status).toBe(404);
  });
});
