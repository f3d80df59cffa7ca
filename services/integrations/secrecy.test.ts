import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { digestApiKey } from '@creditlane/crypto/api-key';
import { readKeyId } from '@creditlane/crypto/envelope';
import { readStoredAnswers } from '@creditlane/idempotency/test-stored-answers';
import { dumpTables } from '@creditlane/postgres/test-table-dump';
import { EnableForRetailerRequestSchema } from '@creditlane/proto/integrations/v1/enablement_service';
import { expect, test } from 'vitest';
import {
  asDispatcher,
  asPlatform,
  OLD_KEY_RING,
  readDestination,
  registerTestIntegration,
  useIntegrations,
} from './test-integrations.ts';

const NEW_KEY_RING = `new:${randomBytes(32).toString('base64')}`;

const fixture = useIntegrations();

test('no API key, webhook secret or configuration is readable in the database, the events or the log', async () => {
  const integrationId = await registerTestIntegration(fixture);
  const { key } = await fixture.integrations.issueKey(
    { integrationId },
    { ...asPlatform, idempotencyKey: randomUUID() },
  );
  const { secret } = await fixture.integrations.setDestination(
    { integrationId, url: 'https://a.example/' },
    asPlatform,
  );
  const rotated = await fixture.integrations.rotateSecret(
    { integrationId, overlapHours: 24 },
    { ...asPlatform, idempotencyKey: randomUUID() },
  );
  const retailerId = randomUUID();
  fixture.applications.retailers.set(retailerId, 'Harbour Motors');
  await fixture.enablement.enableForRetailer(
    { integrationId, retailerId, configJson: '{"password":"correct horse"}' },
    { ...asPlatform, idempotencyKey: randomUUID() },
  );
  await fixture.settled();
  const bigint = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
  const events = JSON.stringify(fixture.events, bigint);
  const dump = (await dumpTables(fixture.sql)) + fixture.lines.join('') + events;
  // The search finds bytes that are stored in the clear.
  expect(dump).toContain(digestApiKey(key).toString('latin1'));
  const secrets = [secret, rotated.secret].map((it) =>
    Buffer.from(it.slice('whsec_'.length), 'base64'),
  );
  for (const bytes of [Buffer.from('correct horse'), Buffer.from(key), ...secrets]) {
    for (const encoding of ['latin1', 'hex', 'base64'] as const) {
      expect(dump).not.toContain(bytes.toString(encoding));
    }
  }
});

test('a start with a new current key wraps every secret and stored answer with that key', async () => {
  const integrationId = await registerTestIntegration(fixture);
  const repeated = { ...asPlatform, idempotencyKey: randomUUID() };
  const issued = await fixture.integrations.issueKey({ integrationId }, repeated);
  const { destinationId, secret } = await fixture.integrations.setDestination(
    { integrationId, url: 'https://a.example/' },
    asPlatform,
  );
  const rotated = await fixture.integrations.rotateSecret(
    { integrationId, overlapHours: 24 },
    repeated,
  );
  const retailerId = randomUUID();
  fixture.applications.retailers.set(retailerId, 'Harbour Motors');
  const enabling = { integrationId, retailerId, configJson: '{"password":"correct horse"}' };
  await fixture.enablement.enableForRetailer(enabling, asPlatform);
  await fixture.enablement.enableForRetailer({ ...enabling, configJson: '' }, asPlatform);
  await fixture.settled();
  const [enabled] = fixture.events.filter((event) => event.integrationId === integrationId);
  await fixture.restart(`${NEW_KEY_RING},${OLD_KEY_RING}`);
  const select = `SELECT sealed_secret, sealed_with FROM destinations
     UNION ALL SELECT sealed_secret, sealed_with FROM previous_secrets
     UNION ALL SELECT sealed_config, sealed_with FROM retailer_enablements
       WHERE sealed_config IS NOT NULL`;
  const keyIds = async () => {
    const { rows } = await fixture.sql.query(select);
    return new Set(rows.flatMap((row) => [row.sealed_with, readKeyId(row.sealed_secret)]));
  };
  await expect.poll(keyIds).toEqual(new Set(['new']));
  const keyIdsOfAnswers = async () => {
    const answers = await readStoredAnswers(fixture.sql);
    return new Set(answers.map(({ response }) => readKeyId(response)));
  };
  await expect.poll(keyIdsOfAnswers).toEqual(new Set(['new']));

  await fixture.restart(NEW_KEY_RING);
  expect(fixture.isReady()).toBe(true);
  const { secrets } = (await readDestination(fixture, destinationId)) ?? {};
  expect(secrets).toEqual([rotated.secret, secret]);
  expect(await fixture.integrations.issueKey({ integrationId }, repeated)).toEqual(issued);
  const { enablementId = '' } = enabled ?? {};
  const request = { enablementId };
  expect(
    await fixture.enablementAsDispatcher.getRetailerEnablement(request, asDispatcher),
  ).toMatchObject({ configJson: enabling.configJson });
});

test('a configuration that cannot be decrypted is lost to its webhook, and the retailer can give it again', async () => {
  const integrationId = await registerTestIntegration(fixture);
  const retailerId = randomUUID();
  fixture.applications.retailers.set(retailerId, 'Harbour Motors');
  const enabling = { integrationId, retailerId, configJson: '{"pin":"1234"}' };
  const enablementIds = async () => {
    await fixture.settled();
    const own = fixture.events.filter((event) => event.integrationId === integrationId);
    return own.map(({ enablementId = '' }) => enablementId);
  };
  const read = (enablementId = '') =>
    fixture.enablementAsDispatcher.getRetailerEnablement({ enablementId }, asDispatcher);
  await fixture.enablement.enableForRetailer(enabling, asPlatform);
  await fixture.sql.query(
    `UPDATE retailer_enablements
     SET sealed_config = set_byte(sealed_config, length(sealed_config) - 1,
       get_byte(sealed_config, length(sealed_config) - 1) # 1)
     WHERE integration_id = $1`,
    [integrationId],
  );
  const [damaged] = await enablementIds();
  const lost = { kind: 'not_found', code: 'enablement_unreadable' };
  await expect(read(damaged)).rejects.toMatchObject(lost);
  await fixture.enablement.enableForRetailer(enabling, asPlatform);
  const [, given] = await enablementIds();
  expect(await read(given)).toMatchObject({ configJson: enabling.configJson });
});

test('the stored digest of a request with a configuration is not the plain digest of the request', async () => {
  const integrationId = await registerTestIntegration(fixture);
  const retailerId = randomUUID();
  fixture.applications.retailers.set(retailerId, 'Harbour Motors');
  const enabling = { integrationId, retailerId, configJson: '{"pin":"1234"}' };
  const idempotencyKey = randomUUID();
  await fixture.enablement.enableForRetailer(enabling, { ...asPlatform, idempotencyKey });
  const { rows } = await fixture.sql.query(
    'SELECT request_digest FROM idempotency WHERE key = $1',
    [idempotencyKey],
  );
  const request = create(EnableForRetailerRequestSchema, enabling);
  const bytes = toBinary(EnableForRetailerRequestSchema, request);
  const plain = createHash('sha256').update(bytes).digest();
  expect(rows).toHaveLength(1);
  expect(rows[0].request_digest).not.toEqual(plain);
});
