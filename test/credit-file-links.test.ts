// A link to a PDF needs no key, so whoever has it may open it again and again. Nobody else pays for that.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDemoDocument } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { MetricSamples } from './platform/metric-samples.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.close());

const MAX_PER_MINUTE = 20;
const HANG_UP_MS = 20;

/** Opens the link on a connection of its own, and hangs up after 20 ms. */
async function openAndHangUp(link: URL): Promise<void> {
  const socket = connect(Number(link.port), link.hostname);
  socket.on('error', () => undefined);
  socket.write(`GET ${link.pathname}${link.search} HTTP/1.1\r\nHost: ${link.host}\r\n\r\n`);
  await delay(HANG_UP_MS);
  socket.destroy();
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
    const samples = new MetricSamples(await platform.metrics());
    const ofRow = { database: 'credit-file', state: 'waiting_for_row' };
    mostWaiting = Math.max(mostWaiting, samples.sum('database_connections', ofRow));
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
    const { status, headers } = await fetch(link);
    return status === 429 && headers.has('retry-after') ? true : undefined;
  });
});
