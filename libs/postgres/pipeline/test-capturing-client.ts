/** A stand-in for a connection that shows which queries are sent. */
import type pg from 'pg';
import type { PipelinedQueries } from './pipeline.ts';
import type { PreparedQuery } from './prepared-query.ts';

/** A prepared query as PostgreSQL would get it: its values are text, bytes or null. */
export type SentQuery = Pick<PreparedQuery, 'name' | 'text' | 'values'>;

/** Calls `onQuery` with each query, one after the other, and answers it without rows. */
export function capturingClient(onQuery: (query: SentQuery) => Promise<void> | void): pg.Client {
  const client = {
    connectionParameters: { statement_timeout: false, query_timeout: false },
    async query(sent: PipelinedQueries) {
      try {
        for (const query of sent.queries) await onQuery(query);
        sent.handleReadyForQuery();
      } catch (error) {
        sent.callback(error as Error, []);
      }
    },
  };
  return client as unknown as pg.Client;
}
