/** The limit of the write path: PostgreSQL runs the statement that records a decision, and nothing else. */
import { create } from '@bufbuild/protobuf';
import { insertOne } from '@creditlane/decisions/record-decision/insert-decisions';
import { defineStatement, type Query, runQuery } from '@creditlane/postgres/statement';
import { capturingClient } from '@creditlane/postgres/test-capturing-client';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { newId } from '@creditlane/runtime/ids';
import pg from 'pg';
import { DECISION } from './decision-body.ts';
import type { Rate } from './latency.ts';
import { runClosedLoad } from './load-patterns.ts';

export interface DirectWriteOptions {
  /** A decisions database that no service uses. */
  url: string;
  creditorId: string;
  applicationIds: string[];
  /** Each connection has one write under way at a time. */
  connections: number;
  warmUpMs: number;
  measureMs: number;
}

/** Records decisions in a closed loop of `connections` callers, without gateway and service. */
export async function measureDirectWrites(options: DirectWriteOptions): Promise<Rate> {
  const { url, creditorId, applicationIds, connections, ...load } = options;
  const clients = Array.from(
    { length: connections },
    () => new pg.Client({ connectionString: url }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  const makeQuery = await prepareQueries(creditorId, applicationIds);
  const idle = [...clients];
  let written = 0;
  const operation = async () => {
    const client = idle.pop();
    if (client === undefined) throw new Error('there are more callers than connections');
    written += 1;
    const recorded = await runQuery(client, makeQuery(written));
    if (recorded.length !== 1) throw new Error('the statement recorded no decision');
    idle.push(client);
    return performance.now();
  };
  try {
    return await runClosedLoad(operation, { callers: connections, ...load });
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

/** Replaced by a new retry token in each write. */
const RETRY_TOKEN = '00000000-0000-0000-0000-000000000000';

/**
 * Captures the query that the decisions service sends for each application, before anything is
 * measured. The returned function makes the nth query: of the next application, with a new retry token.
 */
async function prepareQueries(
  creditorId: string,
  applicationIds: readonly string[],
): Promise<(n: number) => Query<unknown[]>> {
  const captured: { name: string; text: string; json: string }[] = [];
  const recording = capturingClient(({ name, text, values: [json] }) => {
    captured.push({ name, text, json: String(json) });
  });
  const decision = create(DecisionSchema, {
    ...DECISION,
    decision: DecisionValue[DECISION.decision],
    paymentFrequency: PaymentFrequency[DECISION.paymentFrequency],
  });
  for (const applicationId of applicationIds) {
    await insertOne(recording, {
      submission: { applicationId, creditorId },
      decision,
      recordedAt: new Date(),
      integrationId: creditorId,
      retryToken: RETRY_TOKEN,
    });
  }
  if (!captured.every(({ json }) => json.includes(RETRY_TOKEN))) {
    throw new Error('the JSON of the decisions has no retry token');
  }
  return (n) => {
    const next = captured[n % captured.length];
    if (next === undefined) throw new Error('no write was captured');
    const { name, text, json } = next;
    return defineStatement<unknown>(name, text).query([json.replace(RETRY_TOKEN, newId())]);
  };
}
