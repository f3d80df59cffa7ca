import { createHash, randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { SetDestinationRequestSchema } from '@creditlane/proto/integrations/v1/integrations_service';
import { requestDigestOf } from '@creditlane/rpc/call';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  asDispatcher,
  asPlatform,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';

const fixture = useIntegrations();
const url = 'https://a.example/';

describe('a destination with an event filter', () => {
  let integrationId: string;
  const pair = { retailerId: randomUUID(), creditorId: randomUUID() };
  beforeEach(async () => {
    integrationId = await registerTestIntegration(fixture);
    pair.retailerId = randomUUID();
    const grant = { integrationId, retailerId: pair.retailerId, granted: true };
    await fixture.integrations.grantRetailer(grant, asPlatform);
  });

  const set = (events: string[], idempotencyKey?: string) =>
    fixture.integrations.setDestination(
      { integrationId, url, events },
      { ...asPlatform, ...(idempotencyKey && { idempotencyKey }) },
    );

  /** Of these events, those that the destination gets: through its grant, to it alone, and by its integration. */
  async function receivedOf(events: string[]) {
    const { destinations } = fixture;
    const pairs = events.flatMap((event) => [
      { ...pair, event },
      { ...pair, event, integrationId },
    ]);
    const { byPair } = await destinations.findRecipients({ pairs }, asDispatcher);
    const integrationIds = events.map(() => integrationId);
    const request = { integrationIds, events };
    const { byIntegration } = await destinations.findIntegrationRecipients(request, asDispatcher);
    const having = (found: { recipients: unknown[] }[]) =>
      events.filter((_, index) => found[index]?.recipients.length === 1);
    return {
      granted: having(byPair.filter((_, index) => index % 2 === 0)),
      alone: having(byPair.filter((_, index) => index % 2 === 1)),
      ofIntegration: having(byIntegration),
    };
  }
  const everywhere = (events: string[]) => ({
    granted: events,
    alone: events,
    ofIntegration: events,
  });

  const EVENTS = ['applicationBooked', 'integrationEnabled', 'applicationDeclined'];

  test('is a recipient of the events that the filter names, and of no others', async () => {
    await set(['applicationDeclined', 'applicationBooked']);
    expect(await receivedOf(EVENTS)).toEqual(
      everywhere(['applicationBooked', 'applicationDeclined']),
    );
  });

  test('is a recipient of all events once it is set without a filter, which removes it', async () => {
    await set(['applicationBooked']);
    await set([]);
    expect(await receivedOf(EVENTS)).toEqual(everywhere(EVENTS));
  });

  test('is found by a query without an event, as those of replays and of earlier versions are', async () => {
    const { destinationId } = await set(['applicationBooked']);
    const { destinations } = fixture;
    const found = [{ recipients: [{ destinationId, revision: 1 }] }];
    const { byPair } = await destinations.findRecipients({ pairs: [pair] }, asDispatcher);
    expect(byPair).toMatchObject(found);
    const request = { integrationIds: [integrationId] };
    const { byIntegration } = await destinations.findIntegrationRecipients(request, asDispatcher);
    expect(byIntegration).toMatchObject(found);
  });

  test('filters for itself only, beside others with the same grant', async () => {
    const filtered = await set(['applicationBooked']);
    integrationId = await registerTestIntegration(fixture);
    const grant = { integrationId, retailerId: pair.retailerId, granted: true };
    await fixture.integrations.grantRetailer(grant, asPlatform);
    const unfiltered = await set([]);
    const pairs = ['applicationBooked', 'pendingBanking'].map((event) => ({ ...pair, event }));
    const { byPair } = await fixture.destinations.findRecipients({ pairs }, asDispatcher);
    const ids = byPair.map(({ recipients }) => recipients.map((it) => it.destinationId));
    const both = [filtered.destinationId, unfiltered.destinationId].sort();
    expect(ids).toEqual([both, [unfiltered.destinationId]]);
  });

  test('gets all events once an earlier version, which knows no filters, has set it', async () => {
    const { destinationId } = await set(['applicationBooked']);
    await fixture.sql.query(
      'UPDATE destinations SET url = $2, revision = revision + 1 WHERE id = $1',
      [destinationId, 'https://b.example/'],
    );
    expect(await receivedOf(EVENTS)).toEqual(everywhere(EVENTS));
    await set(['integrationEnabled']);
    expect(await receivedOf(EVENTS)).toEqual(everywhere(['integrationEnabled']));
  });

  test('is read with its filter, as long as that is in force', async () => {
    const { destinationId } = await set(['applicationBooked']);
    const read = async () => {
      const request = { destinationIds: [destinationId] };
      const answer = await fixture.destinations.getDestinations(request, asDispatcher);
      return answer.destinations.map(({ events }) => events);
    };
    expect(await read()).toEqual([['applicationBooked']]);
    await fixture.sql.query('UPDATE destinations SET revision = revision + 1 WHERE id = $1', [
      destinationId,
    ]);
    expect(await read()).toEqual([[]]);
    await set([]);
    expect(await read()).toEqual([[]]);
  });

  test('is set once by a key, which a request with another filter cannot use', async () => {
    const first = await set(['applicationBooked'], `${integrationId} key`);
    await set(['applicationDeclined']);
    expect(await set(['applicationBooked'], `${integrationId} key`)).toEqual(first);
    expect(await receivedOf(EVENTS)).toEqual(everywhere(['applicationDeclined']));
    const other = set(['applicationBooked', 'applicationDeclined'], `${integrationId} key`);
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  test.each([
    ['a repeated name', ['applicationBooked', 'applicationBooked']],
    ['an empty name', ['']],
    ['a name of 101 characters', ['a'.repeat(101)]],
    ['21 names', Array.from({ length: 21 }, (_, n) => `event${n}`)],
  ])('is refused with %s', async (_, events) => {
    await expect(set(events)).rejects.toMatchObject({ kind: 'invalid' });
  });
});

test('a request without a filter and a limit has the digest that it had before there were any', () => {
  const integrationId = randomUUID();
  const request = create(SetDestinationRequestSchema, { integrationId, url });
  const before = Buffer.concat(
    [integrationId, url].map((text, index) =>
      Buffer.concat([Buffer.from([(index + 1) * 8 + 2, text.length]), Buffer.from(text)]),
    ),
  );
  const digest = createHash('sha256').update(before).digest();
  expect(requestDigestOf(SetDestinationRequestSchema, request)).toEqual(digest);
});
