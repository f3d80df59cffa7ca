import { randomUUID } from 'node:crypto';
import { runPurge } from '@creditlane/postgres/retention';
import { beforeEach, expect, test } from 'vitest';
import { purgePreviousSecrets } from '../store/previous-secrets.ts';
import {
  asPlatform,
  readDestination,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';

const HOUR_MS = 3_600_000;

const fixture = useIntegrations();

let integrationId: string;
let destinationId: string;
let first: string;
beforeEach(async () => {
  integrationId = await registerTestIntegration(fixture);
  ({ destinationId, secret: first } = await setDestination());
});

const setDestination = () =>
  fixture.integrations.setDestination({ integrationId, url: 'https://a.example/' }, asPlatform);

const rotate = (overlapHours: number, idempotencyKey?: string) =>
  fixture.integrations.rotateSecret(
    { integrationId, overlapHours },
    { ...asPlatform, ...(idempotencyKey && { idempotencyKey }) },
  );

const liveSecrets = async () => (await readDestination(fixture, destinationId))?.secrets;

/** Makes the earlier secrets of the destination end `hours` sooner. */
const passTime = (hours: number) =>
  fixture.sql.query(
    `UPDATE previous_secrets SET signs_until = signs_until - make_interval(hours => $2),
       replaced_at = replaced_at - make_interval(hours => $2)
     WHERE destination_id = $1`,
    [destinationId, hours],
  );

async function countStored(): Promise<number> {
  const { rows } = await fixture.sql.query(
    'SELECT FROM previous_secrets WHERE destination_id = $1',
    [destinationId],
  );
  return rows.length;
}

test('the new secret signs first, and the earlier one beside it until the overlap ends', async () => {
  const before = Date.now();
  const { secret, overlapEndsAt } = await rotate(24);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(secret).not.toBe(first);
  const overlapMs = Number(overlapEndsAt?.seconds) * 1_000 - before;
  expect(Math.abs(overlapMs - 24 * HOUR_MS)).toBeLessThan(60_000);

  await passTime(23);
  expect(await liveSecrets()).toEqual([secret, first]);
  await passTime(1);
  expect(await liveSecrets()).toEqual([secret]);
});

test('a secret that cannot be opened is replaced without an overlap', async () => {
  await fixture.sql.query(`UPDATE destinations SET sealed_secret = '\\x00' WHERE id = $1`, [
    destinationId,
  ]);
  expect(await liveSecrets()).toEqual([]);
  const before = Date.now();
  const { secret, overlapEndsAt } = await rotate(24);
  expect(await liveSecrets()).toEqual([secret]);
  expect(Number(overlapEndsAt?.seconds) * 1_000 - before).toBeLessThan(60_000);
});

test('a secret that cannot be opened leaves the overlap of those before it as it was', async () => {
  const { overlapEndsAt } = await rotate(2);
  await fixture.sql.query(`UPDATE destinations SET sealed_secret = '\\x00' WHERE id = $1`, [
    destinationId,
  ]);
  const rotated = await rotate(24);
  expect(rotated.overlapEndsAt).toEqual(overlapEndsAt);
  expect(await liveSecrets()).toEqual([rotated.secret, first]);
});

test('an earlier secret is deleted from the database after its overlap, and not before', async () => {
  await rotate(1);
  await runPurge(fixture.sql, purgePreviousSecrets);
  expect(await countStored()).toBe(1);
  await passTime(2);
  await runPurge(fixture.sql, purgePreviousSecrets);
  expect(await countStored()).toBe(0);
});

test('an overlap of 0 hours ends and deletes every earlier secret at once', async () => {
  await rotate(24);
  const { secret } = await rotate(0);
  expect(await liveSecrets()).toEqual([secret]);
  expect(await countStored()).toBe(0);
});

test('a rotation within the overlap of another keeps both earlier secrets, newest first', async () => {
  const { secret: second } = await rotate(24);
  await passTime(1);
  const { secret: third } = await rotate(24);
  expect(await liveSecrets()).toEqual([third, second, first]);
});

test('a shorter overlap ends all earlier secrets, and a longer one prolongs none', async () => {
  const { secret: second } = await rotate(24);
  await passTime(1);
  const { secret: third } = await rotate(2);
  await passTime(1);
  const { secret: fourth } = await rotate(168);
  expect(await liveSecrets()).toEqual([fourth, third, second, first]);
  await passTime(1);
  expect(await liveSecrets()).toEqual([fourth, third]);
});

test('a rotation that would leave four earlier secrets is refused and changes nothing', async () => {
  await rotate(24);
  await rotate(24);
  await rotate(24);
  const before = await liveSecrets();
  expect(before).toHaveLength(4);
  const key = randomUUID();
  await expect(rotate(24, key)).rejects.toMatchObject({
    kind: 'conflict',
    code: 'too_many_secrets',
  });
  expect(await liveSecrets()).toEqual(before);

  await passTime(24);
  const { secret } = await rotate(24, key);
  expect(await liveSecrets()).toEqual([secret, before?.[0]]);
});

test('a rotation repeated with its idempotency key shows the same secret and rotates once', async () => {
  const key = randomUUID();
  const answers = await Promise.all([rotate(24, key), rotate(24, key), rotate(24, key)]);
  const [answer] = answers;
  expect(answers).toEqual([answer, answer, answer]);
  expect(await rotate(24, key)).toEqual(answer);
  expect(await liveSecrets()).toEqual([answer.secret, first]);
  await expect(rotate(23, key)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
});

test('duplicate requests for the last rotation that is permitted get the same secret', async () => {
  await rotate(24);
  await rotate(24);
  const key = randomUUID();
  const answers = await Promise.all([rotate(24, key), rotate(24, key), rotate(24, key)]);
  expect(answers).toEqual([answers[0], answers[0], answers[0]]);
  expect(await liveSecrets()).toHaveLength(4);
});

test('rotations at the same time follow each other: each secret is live', async () => {
  const answers = await Promise.all([rotate(24), rotate(24), rotate(24)]);
  const live = await liveSecrets();
  expect(live?.at(-1)).toBe(first);
  expect(new Set(live)).toEqual(new Set([first, ...answers.map(({ secret }) => secret)]));
});

test('a secret comes before those replaced earlier, whatever the clock of the replica that replaces it', async () => {
  const { secret: second } = await rotate(24);
  await fixture.sql.query(
    `UPDATE previous_secrets SET replaced_at = replaced_at + interval '1 minute'
     WHERE destination_id = $1`,
    [destinationId],
  );
  const { secret: third } = await rotate(24);
  expect(await liveSecrets()).toEqual([third, second, first]);
});

test('a rotation keeps the revision, by which a disabled destination is enabled', async () => {
  await rotate(24);
  expect(await readDestination(fixture, destinationId)).toMatchObject({ revision: 1 });
});

test('without a destination or an integration there is nothing to rotate, and the key stays unused', async () => {
  integrationId = await registerTestIntegration(fixture);
  const key = randomUUID();
  await expect(rotate(24, key)).rejects.toMatchObject({
    kind: 'not_found',
    code: 'destination_not_found',
  });
  ({ destinationId, secret: first } = await setDestination());
  const { secret } = await rotate(24, key);
  expect(await liveSecrets()).toEqual([secret, first]);

  integrationId = randomUUID();
  await expect(rotate(24)).rejects.toMatchObject({ code: 'integration_not_found' });
});

test('the secrets of another integration stay as they are', async () => {
  const [id, secret] = [destinationId, first];
  integrationId = await registerTestIntegration(fixture);
  await setDestination();
  await rotate(0);
  expect((await readDestination(fixture, id))?.secrets).toEqual([secret]);
});
