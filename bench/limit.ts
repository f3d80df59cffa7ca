/** What PostgreSQL itself can do: the decision write as one prepared statement, and nothing around it. */
import { create } from '@bufbuild/protobuf';
import { recordDecision } from '@creditlane/decisions/store';
import type { Queryable } from '@creditlane/postgres/statement';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import pg from 'pg';
import { DECISION } from './decision.ts';
import type { Rate } from './figures.ts';
import { loadClosed } from './load.ts';

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
  const statement = await statementOf(creditorId);
  const idle = [...clients];
  let written = 0;
  const exchange = async () => {
    const client = idle.pop();
    if (client === undefined) throw new Error('there are as many connections as callers');
    written += 1;
    const applicationId = applicationIds[written % applicationIds.length];
    const values = [applicationId, ...statement.values.slice(1)];
    const { rowCount } = await client.query({ ...statement, values });
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

/** The statement as the decisions service sends it, caught on its way; its first value is the application. */
async function statementOf(creditorId: string): Promise<pg.QueryConfig & { values: unknown[] }> {
  let caught: (pg.QueryConfig & { values: unknown[] }) | undefined;
  const catcher = {
    query(query: pg.QueryConfig & { values: unknown[] }) {
      caught = query;
      return Promise.resolve({ rows: [] });
    },
  };
  const nobody = '00000000-0000-0000-0000-000000000000';
  await recordDecision(catcher as unknown as Queryable, {
    submission: { applicationId: nobody, creditorId },
    scope: { creditorId, retailerId: undefined },
    decision: create(DecisionSchema, {
      ...DECISION,
      decision: DecisionValue[DECISION.decision],
      paymentFrequency: PaymentFrequency[DECISION.paymentFrequency],
    }),
    recordedAt: new Date(),
    integrationId: nobody,
  });
  if (caught === undefined) throw new Error('the service sent no statement');
  const { name, text, values } = caught;
  return { ...(name && { name }), text, values };
}
