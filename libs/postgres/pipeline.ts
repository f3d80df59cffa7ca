/**
 * Several queries in one round trip, by pg's pipeline mode: the pool must be opened with
 * `pipeline: true`.
 *
 * pg sends a Sync after every query, so only BEGIN and COMMIT make the queries one transaction. A
 * pipeline on pg's private classes, with one Sync and without BEGIN and COMMIT, took less CPU for each
 * pipeline, node and PostgreSQL together: 151 instead of 218 µs for two queries, 194 instead of 361 µs
 * for six, 179 instead of 281 µs for a transaction of two pipelines. A whole delivery took the same
 * within the error of measurement: 0.79 instead of 0.81 ms with 128 deliveries under way.
 */
import type pg from 'pg';
import { defineStatement, type Query, type Queryable, useConnection } from './statement.ts';

export const beginQuery = defineStatement('begin', 'BEGIN').query();
export const commitQuery = defineStatement('commit', 'COMMIT').query();
const rollbackQuery = defineStatement('rollback', 'ROLLBACK').query();

/** The results of the queries in their order; undefined in the place of an undefined query. */
export type QueryResults<Queries extends readonly unknown[]> = {
  -readonly [Place in keyof Queries]: Queries[Place] extends Query<infer Result>
    ? Result
    : Queries[Place] extends Query<infer Result> | undefined
      ? Result | undefined
      : never;
};

/**
 * Runs the queries in order, in one round trip; each sees the effects of the earlier ones. Outside a
 * transaction the queries are a transaction of their own. Rejects with the database's error for the first
 * query that it refuses: then no query has an effect, and a surrounding transaction has failed. When the
 * connection is lost before the answer (`isDatabaseUnavailable`), it is unknown whether all queries took
 * effect or none.
 */
export async function runPipeline<const Queries extends readonly (Query<unknown> | undefined)[]>(
  db: Queryable,
  queries: Queries,
): Promise<QueryResults<Queries>> {
  const given = queries.filter((query) => query !== undefined);
  if (given.length === 0) return queries.map(() => undefined) as QueryResults<Queries>;
  const isTransaction = !('totalCount' in db);
  const work = isTransaction ? sendPipeline : sendTransaction;
  const results = await useConnection(db, (client) => work(client as Client, given)).catch(
    (error) => {
      // The stack of an error read from the socket does not contain the caller.
      Error.captureStackTrace(error);
      throw error;
    },
  );
  const mapped = given.map(({ toResult }, place) => toResult(results[place]?.rows ?? []));
  return queries.map((query) => query && mapped.shift()) as QueryResults<Queries>;
}

/** The properties of a pg connection that @types/pg leaves out. */
type Client = pg.Client & {
  connection: { stream: { cork(): void; uncork(): void } };
  connectionParameters: { statement_timeout: number | false; query_timeout: number | false };
};

async function sendTransaction(client: Client, queries: readonly Query<unknown>[]) {
  const [, ...results] = await sendPipeline(client, [beginQuery, ...queries, commitQuery]);
  return results;
}

/**
 * Sends the queries, and waits for the answers to all of them. After a refused query the server refuses
 * the others of the transaction too, and takes COMMIT for ROLLBACK.
 */
async function sendPipeline(
  client: Client,
  queries: readonly Query<unknown>[],
): Promise<pg.QueryResult[]> {
  if (!client.pipeline) throw new Error('a pipeline needs a pool with "pipeline: true"');
  const { statement_timeout: each, query_timeout: one } = client.connectionParameters;
  const results: Promise<pg.QueryResult>[] = [];
  let failure: Error | undefined;
  const send = ({ config }: Query<unknown>) => {
    const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>();
    // A query waits for those before it, each of which may take the server's time limit.
    const query_timeout = one ? one + results.length * (each || 0) : 0;
    void client.query({ ...config, ...{ query_timeout } }, (error, result) => {
      if (!error) return resolve(result);
      failure ??= error;
      reject(error);
    });
    results.push(promise);
  };
  // In one packet: a server that ends the session at the first query could reset the connection before
  // its error is read, if later queries came after that.
  const { stream } = client.connection;
  stream.cork();
  try {
    for (const query of queries) {
      send(query);
      // pg calls back at once for a value that it cannot send. It has closed the query's prepared
      // statement then but takes it for prepared, so the connection cannot be used any more.
      if (failure !== undefined) {
        send(rollbackQuery);
        void client.end();
        break;
      }
    }
  } finally {
    stream.uncork();
  }
  const outcomes = await Promise.allSettled(results);
  if (failure !== undefined) throw failure;
  return outcomes.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
}
