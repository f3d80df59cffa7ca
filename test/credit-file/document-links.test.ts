// A link to a PDF needs no key, so whoever has it may open it again and again. Nobody else pays for that.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { makeDemoApplicant } from '@creditlane/local/demo/demo-bureaus';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDemoDocument } from '../platform/api-client.ts';
import { eventually } from '../platform/eventually.ts';
import { MetricSamples } from '../platform/metric-samples.ts';
import { connect as connectToDatabase } from '../platform/run-sql.ts';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';
import { LINK_KEY, signedLink } from './signed-links.ts';

const MAX_PER_MINUTE = 20;
const HANG_UP_MS = 20;

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ everywhere: LINK_KEY });
});
afterAll(() => platform.close());

/** As fetch, and reads the whole answer. */
async function fetchAll(link: URL | string): Promise<Response> {
  const response = await fetch(link);
  await response.arrayBuffer();
  return response;
}

/** Opens the link on a connection of its own, and hangs up after 20 ms. */
async function openAndHangUp(link: URL): Promise<void> {
  const socket = connect(Number(link.port), link.hostname);
  socket.on('error', () => undefined);
  socket.write(`GET ${link.pathname}${link.search} HTTP/1.1\r\nHost: ${link.host}\r\n\r\n`);
  await delay(HANG_UP_MS);
  socket.destroy();
}

/** The connections of the credit-file service that are in this state. */
async function countConnections(state: string): Promise<number> {
  const samples = new MetricSamples(await platform.metrics());
  return samples.sum('database_connections', { database: 'credit-file', state });
}

test('a link that two connections open and hang up again and again holds up no write of the retailer, and fills no audit log', async () => {
  const { demo, api } = platform;
  const { applicationId, applicantId } = demo.creditFile;
  const path = `/applications/${applicationId}/credit-file/${applicantId}`;
  expect((await openDemoDocument(demo)).status).toBe(200);
  const link = new URL((await api.get(path)).body.signedPdfUrl);

  const startedMs = Date.now();
  const attack = { isOver: false, openings: 0 };
  const attackers = [1, 2].map(async () => {
    while (!attack.isOver) {
      await openAndHangUp(link);
      attack.openings += 1;
    }
  });
  // Each read is a write of the retailer's audit log. The attack lasts until both have been made often.
  const statuses = new Set<number>();
  let mostWaiting = 0;
  for (let reads = 0; reads < 60 || attack.openings < 200; reads += 1) {
    statuses.add((await api.get(path)).status);
    mostWaiting = Math.max(mostWaiting, await countConnections('waiting_for_row'));
  }
  attack.isOver = true;
  await Promise.all(attackers);
  const minutes = Math.floor(Date.now() / 60_000) - Math.floor(startedMs / 60_000) + 1;

  expect([...statuses]).toEqual([200]);
  expect(mostWaiting).toBeLessThanOrEqual(2);
  const audited = `SELECT action, outcome FROM audit_records WHERE action LIKE 'DOCUMENT_READ%'`;
  // The demo document was opened once, too. Of each minute there is one record of the first opening and one of the others.
  expect((await platform.runSql('credit-file', audited)).length).toBeLessThanOrEqual(
    1 + 2 * minutes,
  );
  const counted = await platform.runSql('credit-file', 'SELECT repeats FROM document_openings');
  for (const { repeats } of counted) expect(repeats).toBeLessThan(MAX_PER_MINUTE);
  await eventually('refusal of the link', async () => {
    const { status, headers } = await fetchAll(link);
    return status === 429 && headers.has('retry-after') ? true : undefined;
  });
});

type Tenant = Parameters<typeof makeDemoApplicant>[1];

/** Has the file of a new applicant of the tenant pulled, and resolves to its ids, its paths and a link to it. */
async function pullFile(tenant: Tenant) {
  const { api, demo } = platform;
  const access = { ...demo, platformKey: demo.keys.platform };
  const { applicationId, applicantId } = await makeDemoApplicant(access, tenant);
  const path = `/applications/${applicationId}/credit-file/${applicantId}`;
  const { key } = tenant;
  expect((await api.post(`${path}/request`, { source: 'EQUIFAX' }, { key })).status).toBe(202);
  const { status, body } = await api.get(path, { key, headers: { Prefer: 'wait=30' } });
  expect(status).toBe(200);
  const [, id = ''] = /credit-files\/([^/]+)\//.exec(body.signedPdfUrl) ?? [];
  const link: string = body.signedPdfUrl;
  const consents = `/applications/${applicationId}/applicants/${applicantId}/consents`;
  return { id, link, applicationId, path, consents };
}

test('fifty openings of one retailer that stand still hold up no link of another', async () => {
  const { demo } = platform;
  const { otherTenant, keys, users, retailerId } = demo;
  const tenant = { key: keys.integration, retailerId, retailerUserId: users.active };
  const files = [await pullFile(tenant), await pullFile(tenant), await pullFile(tenant)];
  const other = await pullFile({ ...otherTenant, retailerUserId: users.foreign });

  const database = await connectToDatabase(platform.databaseUrls['credit-file']);
  const expires = Math.floor(Date.now() / 1_000) + 60;
  const linksTo = ({ id }: { id: string }) =>
    Array.from({ length: 17 }, (_, n) => demo.baseUrl + signedLink(id, expires + n));
  const ended: number[] = [];
  const open = async (link: string) => void ended.push((await fetchAll(link)).status);
  try {
    await database.query('BEGIN');
    const held = 'SELECT FROM audit_heads WHERE retailer_id = $1 FOR UPDATE';
    await database.query(held, [retailerId]);
    const openings = files.flatMap(linksTo).map(open);
    await eventually('openings that stand still', async () =>
      (await countConnections('busy')) >= 2 ? true : undefined,
    );
    expect((await fetchAll(other.link)).status).toBe(200);
    // Those that can neither run nor wait were refused at once; none of the others has ended yet.
    expect(ended.filter((status) => status !== 429)).toEqual([]);
    await database.query('ROLLBACK');
    await Promise.all(openings);
  } finally {
    await database.end();
  }
  expect([...new Set(ended)].toSorted()).toEqual([200, 429]);
});

describe('a link to a PDF ends', () => {
  const LINK_ENDED = [403, 'link_ended'];

  /** What the holder of the link gets. */
  async function open(link: string) {
    const response = await fetch(link);
    const isPdf = response.headers.get('content-type') === 'application/pdf';
    const body = await response.text();
    return [response.status, isPdf ? 'pdf' : JSON.parse(body).code];
  }

  /** A new integration with a grant on the demo's retailer, its new file, and a link to that. */
  async function pullAsNewIntegration() {
    const { api, demo } = platform;
    const asPlatform = { key: demo.keys.platform };
    const named = { name: 'Link holder', permissions: [] };
    const { integrationId } = (await api.post('/platform/integrations', named, asPlatform)).body;
    const grant = `/platform/integrations/${integrationId}/retailers/${demo.retailerId}`;
    await api.call('PUT', grant, asPlatform);
    const issued = await api.post(`/platform/integrations/${integrationId}/keys`, {}, asPlatform);
    const { key } = issued.body;
    const tenant = { key, retailerId: demo.retailerId, retailerUserId: demo.users.active };
    const file = await pullFile(tenant);
    expect(await open(file.link)).toEqual([200, 'pdf']);
    return { ...file, key, withdraw: () => api.call('DELETE', grant, asPlatform) };
  }

  test('with the grant of the integration that was given it', async () => {
    const { path, key, link, withdraw } = await pullAsNewIntegration();
    await withdraw();
    await eventually('refusal of the key', async () =>
      (await platform.api.get(path, { key })).status === 404 ? true : undefined,
    );
    expect(await open(link)).toEqual(LINK_ENDED);
  });

  test('with the consent of its pull, also when the applicant consents again', async () => {
    const { api, demo } = platform;
    const { path, consents, key, link } = await pullAsNewIntegration();
    const [{ consentId }] = (await api.get(consents, { key })).body.data;
    const user = demo.users.active;
    await api.post(`${consents}/${consentId}/revoke`, { revokedBy: user }, { key });
    expect(await open(link)).toEqual(LINK_ENDED);
    const again = { purpose: 'CREDIT_APPLICATION', textVersion: 'again', capturedBy: user };
    expect((await api.post(consents, again, { key })).status).toBe(201);
    expect(await open(link)).toEqual(LINK_ENDED);
    // The link of the second in which the applicant consented again is not one of that consent for sure.
    await eventually('link on the new consent', async () => {
      const [status] = await open((await api.get(path, { key })).body.signedPdfUrl);
      return status === 200 ? true : undefined;
    });
  });

  test('not with a further consent, and with the archiving of its application', async () => {
    const { api, demo } = platform;
    const { applicationId, consents, key, link } = await pullAsNewIntegration();
    const consent = { purpose: 'CREDIT_APPLICATION', textVersion: 'more' };
    await api.post(consents, { ...consent, capturedBy: demo.users.active }, { key });
    expect(await open(link)).toEqual([200, 'pdf']);
    await api.post(`/applications/${applicationId}/archive`, undefined, { key });
    expect(await open(link)).toEqual(LINK_ENDED);
  });
});
