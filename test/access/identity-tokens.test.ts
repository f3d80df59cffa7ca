// Which calls the services refuse: every method of every contract, on the real services in processes of their own.
import { randomBytes, randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HOST } from '@creditlane/local/host';
import { choosePorts } from '@creditlane/local/ports';
import { dropDatabases, prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets, secretsOf } from '@creditlane/platform/secrets';
import { SERVICES } from '@creditlane/platform/services';
import { portsNeeded } from '@creditlane/processes/instances';
import { startProcessPlatform } from '@creditlane/processes/process-platform';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import { type Identity, TokenSigner } from '@creditlane/rpc/identity';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

const PROTO = fileURLToPath(new URL('../../proto/creditlane/', import.meta.url));
/** The path of each method, as Connect names it. */
const METHODS = globSync('*/*/*.proto', { cwd: PROTO }).flatMap((file) => {
  const text = readFileSync(PROTO + file, 'utf8');
  const name = /^package ([\w.]+);/m.exec(text)?.[1];
  return text.split(/^service /m).flatMap((part, index) => {
    const service = /^\w+/.exec(part)?.[0];
    const methods = index === 0 ? [] : [...part.matchAll(/^ {2}rpc (\w+)/gm)];
    return methods.map(([, method]) => `/${name}.${service}/${method}`);
  });
});
const INTEGRATION: Identity = { kind: 'integration', subject: randomUUID(), permissions: [] };
const NAMES = SERVICES.filter(({ serves }) => serves === 'calls').map(({ name }) => name);

const testProcess = createTestProcess('identity tokens');
const secrets = makeSecrets();
let urls: Record<string, string>;
beforeAll(async () => {
  const suffix = `_${randomBytes(4).toString('hex')}`;
  const databaseUrls = await prepareDatabases(inject('postgresUrl'), secrets, suffix);
  testProcess.closers.add('databases', () => dropDatabases(inject('postgresUrl'), suffix));
  const ports = await choosePorts({ first: 0, host: HOST, services: portsNeeded({}) });
  // Without Kafka the services are degraded, and serve calls.
  const platform = await startProcessPlatform(
    {
      secrets,
      databaseUrls,
      ports,
      kafka: { KAFKA_BROKERS: `${HOST}:1` },
      commonSettings: { LOG_LEVEL: 'fatal' },
      write: (text) => void process.stderr.write(text),
    },
    testProcess,
  );
  const addresses = Object.entries(platform.services());
  urls = Object.fromEntries(addresses.map(([name, { rpcUrl }]) => [name, rpcUrl]));
}, 120_000);
afterAll(() => testProcess.closers.close());

/** Calls each method at each service, and resolves to the statuses of those that the service has. */
async function callAll(headersFor: (service: string) => Promise<Record<string, string>>) {
  const statuses = new Map<string, number>();
  for (const service of NAMES) {
    const headers = { 'content-type': 'application/json', ...(await headersFor(service)) };
    for (const method of METHODS) {
      const url = `${urls[service]}${method}`;
      const answer = await fetch(url, { method: 'POST', headers, body: '{}' });
      // A method may answer that there is no such record, in JSON; a service without the method answers nothing.
      const isServed = answer.status !== 404 || answer.headers.get('content-type') !== null;
      if (isServed) statuses.set(method, answer.status);
      await answer.body?.cancel();
    }
  }
  return statuses;
}

const bearer = async (token: Promise<string>) => ({ authorization: `Bearer ${await token}` });
const signerOf = (issuer: string, privateKey = secretsOf(secrets, issuer).identity.privateKey) =>
  new TokenSigner({ issuer, privateKey });
const gateway = signerOf('gateway');
const refused = new Map(METHODS.map((method) => [method, 401]));

test('a call with headers that name a caller, and no token, is refused by every method', async () => {
  const spoofed = Object.fromEntries(
    ['x-identity', 'x-caller', 'x-integration-id', 'x-subject', 'x-service'].map((name) => [
      name,
      JSON.stringify(INTEGRATION),
    ]),
  );
  expect(await callAll(async () => spoofed)).toEqual(refused);
});

test('a token that the gateway signed for another service is refused by every method', async () => {
  const other = (service: string) => NAMES.find((name) => name !== service) ?? '';
  const headers = (service: string) => bearer(gateway.sign(other(service), INTEGRATION));
  expect(await callAll(headers)).toEqual(refused);
});

test('a token for an integration that another service or a stranger signed is refused', async () => {
  const stranger = signerOf('gateway', generateIdentityKeys().privateKey);
  for (const signer of [signerOf('decisions'), stranger]) {
    const headers = (service: string) => bearer(signer.sign(service, INTEGRATION));
    expect(await callAll(headers)).toEqual(refused);
  }
});

test('a token that the gateway signed for the service authenticates its caller', async () => {
  const answered = await callAll((service) => bearer(gateway.sign(service, INTEGRATION)));
  expect(METHODS).toContain('/creditlane.decisions.v1.DecisionsService/RecordDecision');
  expect([...answered.keys()].toSorted()).toEqual(METHODS.toSorted());
  expect([...answered.values()]).not.toContain(401);
});
