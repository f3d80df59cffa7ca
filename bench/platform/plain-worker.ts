/**
 * A worker that makes the round trips of a webhook, each with plain statements of one row, and has no rule of the
 * platform: no key, no validation, no order, no lease, no row security, no retry, and one index for each table.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { defineStatement } from '@creditlane/postgres/statement';
import pg from 'pg';
import { Pool } from 'undici';
import { serveParent } from './worker.ts';

export type PlainWorker = {
  /** Returns the URL to which decisions are sent; their webhooks go to `inboxUrl`. */
  start(options: { databaseUrl: string; inboxUrl: string }): Promise<string>;
  /** Resolves once the results of all webhooks are recorded. */
  settled(_: undefined): Promise<void>;
};

/** As long as the platform defers the result of a success (`RESULT_DELAY_MS`). */
const RESULTS_EVERY_MS = 100;

const TABLES = `
  CREATE TABLE decisions (id bigserial PRIMARY KEY, application_id uuid, body jsonb);
  CREATE TABLE outbox (id bigserial PRIMARY KEY, key uuid, payload jsonb, published_at timestamptz);
  CREATE TABLE destinations (id int PRIMARY KEY, url text);
  INSERT INTO destinations VALUES (1, 'of the load generator');
  CREATE TABLE messages (event_id bigint PRIMARY KEY, body jsonb);
  CREATE TABLE deliveries (id bigserial PRIMARY KEY, event_id bigint, state text);
  CREATE TABLE attempts (delivery_id bigint PRIMARY KEY, started_at timestamptz, status int)`;

type WithId = { id: string };
const insertDecision = defineStatement(
  'decision',
  'INSERT INTO decisions VALUES (DEFAULT, $1, $2)',
);
const insertEvent = defineStatement<WithId>(
  'event',
  'INSERT INTO outbox VALUES (DEFAULT, $1, $2) RETURNING id',
);
const selectEvent = defineStatement('event_read', 'SELECT * FROM outbox WHERE id = $1');
const selectDestination = defineStatement('destination', 'SELECT * FROM destinations WHERE id = 1');
const insertMessage = defineStatement('message', 'INSERT INTO messages VALUES ($1, $2)');
const insertDelivery = defineStatement<WithId>(
  'delivery',
  `INSERT INTO deliveries VALUES (DEFAULT, $1, 'due') RETURNING id`,
);
const markPublished = defineStatement(
  'mark',
  'UPDATE outbox SET published_at = now() WHERE id = ANY ($1::bigint[])',
);
const recordResults = defineStatement(
  'results',
  `WITH ended AS (
     UPDATE deliveries SET state = 'delivered' WHERE id = ANY ($1::bigint[]) RETURNING id
   )
   INSERT INTO attempts SELECT id, now(), 204 FROM ended`,
);

const closers: (() => unknown)[] = [];
/** Decisions whose webhooks are not recorded as delivered. */
let unsettled = 0;

const functions: PlainWorker = {
  async start({ databaseUrl, inboxUrl }) {
    const db = new pg.Pool({ connectionString: databaseUrl, idleTimeoutMillis: 60_000 });
    await db.query(TABLES);
    const receiver = new Pool(inboxUrl, { connections: 64 });
    let delivered: { eventId: string; deliveryId: string }[] = [];
    const record = async () => {
      const results = delivered;
      if (results.length === 0) return;
      delivered = [];
      await runPipeline(db, [
        markPublished.query([results.map(({ eventId }) => eventId)]),
        recordResults.query([results.map(({ deliveryId }) => deliveryId)]),
      ]);
      unsettled -= results.length;
    };
    const deliver = async (eventId: string, body: string) => {
      await selectEvent.run(db, [eventId]);
      await selectDestination.run(db);
      const [, [delivery]] = await runPipeline(db, [
        insertMessage.query([eventId, body]),
        insertDelivery.query([eventId]),
      ]);
      const headers = { 'content-type': 'application/json', 'webhook-id': eventId };
      const answer = await receiver.request({ path: '/', method: 'POST', headers, body });
      await answer.body.dump();
      if (delivery === undefined) throw new Error('the delivery was not inserted');
      delivered.push({ eventId, deliveryId: delivery.id });
    };
    const decide = async (request: IncomingMessage) => {
      const decision = (await json(request)) as { applicationId: string };
      const body = JSON.stringify(decision);
      const [, [event]] = await runPipeline(db, [
        insertDecision.query([decision.applicationId, body]),
        insertEvent.query([decision.applicationId, body]),
      ]);
      if (event === undefined) throw new Error('the event was not inserted');
      return { eventId: event.id, body };
    };
    const server = createServer(async (request, response) => {
      unsettled += 1;
      const { eventId, body } = await decide(request);
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      await deliver(eventId, body);
    });
    server.keepAliveTimeout = 120_000;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const timer = setInterval(record, RESULTS_EVERY_MS);
    closers.push(
      () => clearInterval(timer),
      () => server.closeAllConnections(),
      () => db.end(),
    );
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },

  async settled() {
    while (unsettled > 0) await delay(10);
  },
};

serveParent(functions, async () => {
  for (const close of closers) await close();
});
