/** What PostgreSQL itself can do: the decision write as one prepared statement, and nothing around it. */
import { create } from '@bufbuild/protobuf';
import { insertDecision } from '@creditlane/decisions/record-decision/insert-decision';
import type { Queryable } from '@creditlane/postgres/statement';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { newId } from '@creditlane/runtime/ids';
import pg from 'pg';
import { DECISION } from './decision-body.ts';
import type { Rate } from './latency.ts';
import { loadClosed } from './load-patterns.ts';

export interface LimitOptions {
  /** A database of the decisions service that nobody else works on. */
  url: string;
  creditorId: string;
  applicationIds: string[];
  /** Each with one write under way at a time. */
  connections: number;
  warmUpMs: number;
  measureMs: number;
}

/** Writes decisions as fast as so many connections can. */
export async function measureLimit(options: LimitOptions): Promise<Rate> {
  const { url, creditorId, applicationIds, connections, ...load } = options;
  const clients = Array.from(
    { length: connections },
    () => new pg.Client({ connectionString: url }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  const writes = await writesOf(creditorId, applicationIds);
  const idle = [...clients];
  let written = 0;
  const exchange = async () => {
    const client = idle.pop();
    if (client === undefined) throw new Error('there are as many connections as callers');
    written += 1;
    const { rowCount } = await client.query(writes(written));
    if (rowCount !== 1) throw new Error('the decision was not written');
    idle.push(client);
    return performance.now();
  };
  try {
    return await loadClosed(exchange, { callers: connections, ...load });
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

type Write = pg.QueryConfig & { values: unknown[] };

/** Stands for the id of the call, which every write has another of. */
const CALL_ID = '00000000-0000-0000-0000-000000000000';

/**
 * The statements as the decisions service sends them, caught on their way before the time is taken;
 * each goes to the next application.
 */
async function writesOf(
  creditorId: string,
  applicationIds: readonly string[],
): Promise<(n: number) => Write> {
  const caught: Write[] = [];
  const catcher = {
    query(write: Write) {
      caught.push(write);
      return Promise.resolve({ rows: [] });
    },
  };
  const decision = create(DecisionSchema, {
    ...DECISION,
    decision: DecisionValue[DECISION.decision],
    paymentFrequency: PaymentFrequency[DECISION.paymentFrequency],
  });
  for (const applicationId of applicationIds) {
    await insertDecision(catcher as unknown as Queryable, {
      submission: { applicationId, creditorId },
      decision,
      recordedAt: new Date(),
      integrationId: creditorId,
      retryToken: CALL_ID,
    });
  }
  const place = caught[0]?.values.indexOf(CALL_ID) ?? -1;
  if (place === -1) throw new Error('the statement does not name its call');
  return (n) => {
    const { name, text, values } = caught[n % caught.length] as Write;
    return { ...(name && { name }), text, values: values.with(place, newId()) };
  };
}
