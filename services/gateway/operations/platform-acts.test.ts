import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
afterAll(gateway.close);

const at = timestampFromDate(new Date('2026-03-02T15:04:05.678Z'));
const anAct = (action: string, more: object = {}) => ({
  ...{ actId: newId(), at, actor: 'a-key', requestId: 'r-1', action },
  ...more,
});
const list = async (query: string) =>
  gateway.send('GET', `/v1/platform/acts${query}`, { key: gateway.platformKey });

test('the acts of both services are one list, newest first, whatever the size of its pages', async () => {
  const retailerId = newId();
  const acts = [
    anAct('RETAILER_REGISTERED', { retailerId }),
    anAct('KEY_ISSUED'),
    anAct('INTEGRATION_CHANGED', { permissions: [] }),
    anAct('CREDITOR_REGISTERED'),
    anAct('KEY_REVOKED'),
  ];
  const { platformActs } = gateway.services;
  platformActs.applications = acts.filter((_, n) => n % 3 === 0);
  platformActs.integrations = acts.filter((_, n) => n % 3 !== 0);
  const newestFirst = acts.toReversed().map(({ actId }) => actId);
  for (const limit of [1, 2, 3, 5]) {
    const found = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, json } = await list(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      expect(status).toBe(200);
      expect(json.data.length).toBeLessThanOrEqual(limit);
      found.push(...json.data);
      cursor = json.nextCursor;
    }
    expect(found.map(({ actId }) => actId)).toEqual(newestFirst);
    const shown = { at: '2026-03-02T15:04:05.678Z', actor: 'a-key', requestId: 'r-1' };
    expect(found.at(-1)).toEqual({ ...acts[0], ...shown });
    expect(found[2]).toEqual({ ...acts[2], ...shown });
  }
});

test('a cursor of another list is refused', async () => {
  const { status, json } = await list('?cursor=abc');
  expect([status, json.code]).toEqual([400, 'invalid_cursor']);
});
