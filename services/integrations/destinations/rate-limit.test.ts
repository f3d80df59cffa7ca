import { beforeEach, describe, expect, test } from 'vitest';
import {
  asDispatcher,
  asPlatform,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';

const fixture = useIntegrations();
const url = 'https://a.example/';

describe('a destination with a rate limit', () => {
  let integrationId: string;
  beforeEach(async () => {
    integrationId = await registerTestIntegration(fixture);
  });

  const set = (deliveriesPerSecond?: number, idempotencyKey?: string) =>
    fixture.integrations.setDestination(
      { integrationId, url, ...(deliveriesPerSecond !== undefined && { deliveriesPerSecond }) },
      { ...asPlatform, ...(idempotencyKey && { idempotencyKey }) },
    );

  async function read(destinationId: string): Promise<number | undefined> {
    const request = { destinationIds: [destinationId] };
    const answer = await fixture.destinations.getDestinations(request, asDispatcher);
    expect(answer.destinations).toHaveLength(1);
    return answer.destinations[0]?.deliveriesPerSecond;
  }

  test('is read with it, until it is set without one', async () => {
    const { destinationId } = await set(1);
    expect(await read(destinationId)).toBe(1);
    await set(1_000);
    expect(await read(destinationId)).toBe(1_000);
    await set();
    expect(await read(destinationId)).toBeUndefined();
  });

  test('has none once an earlier version, which knows no limits, has set it', async () => {
    const { destinationId } = await set(20);
    await fixture.sql.query(
      `UPDATE destinations SET revision = revision + 1, events_revision = revision + 1 WHERE id = $1`,
      [destinationId],
    );
    expect(await read(destinationId)).toBeUndefined();
  });

  test('is set once by a key, which a request with another limit cannot use', async () => {
    const first = await set(20, `${integrationId} key`);
    await set(30);
    expect(await set(20, `${integrationId} key`)).toEqual(first);
    expect(await read(first.destinationId)).toBe(30);
    const other = set(21, `${integrationId} key`);
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  test.each([0, 1_001])('is refused with %i deliveries per second', async (limit) => {
    await expect(set(limit)).rejects.toMatchObject({ kind: 'invalid' });
  });
});
