/**
 * Prepared queries in one round trip, as one transaction: under a single Sync message. A query alone is sent in the same way.
 *
 * The classes here use private parts of pg 8.23.1; pipeline.test.ts fails when that version changes. pg's
 * own pipeline mode (`pipeline: true`, with BEGIN and COMMIT) was measured instead and not taken: it
 * sends a Sync after every query. CPU of node and PostgreSQL together was 218 instead of 151 µs for two
 * queries and 361 instead of 194 µs for six; of the whole platform in one process, 0.54 instead of
 * 0.49 ms for each decision and 0.76 instead of 0.64 ms for each delivered webhook (means of 4 and 2
 * runs in turns, 2 cores).
 */

import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import type pg from 'pg';
import { type Queryable, useConnection } from '../connection/queryable.ts';
import { ScopedPool } from '../row-security/scoped-pool.ts';
import { type Connection, PreparedQuery, type Query } from './prepared-query.ts';

/** PostgreSQL has rolled a transaction back instead of committing it, because a statement in it had been refused. */
export class NotCommittedError extends LoggableError {
  override readonly message = 'the transaction was rolled back: a statement in it had been refused';
}

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
 * effect or none. Rejects, too, when a value of a row has no counterpart in JavaScript (`VALUE_TYPES`): then all
 * queries took effect.
 */
export async function runPipeline<const Queries extends readonly (Query<unknown> | undefined)[]>(
  db: Queryable,
  queries: Queries,
): Promise<QueryResults<Queries>> {
  const asked = queries.filter((query) => query !== undefined);
  if (asked.length === 0) return queries.map(() => undefined) as QueryResults<Queries>;
  const before = db instanceof ScopedPool ? [db.enterScope] : [];
  const sent = [...before, ...asked];
  const answers = await useConnection(db, (client) => roundTrip(client, sent)).catch((error) => {
    // The driver creates the error in its socket handler; the caller's stack is the useful one.
    Error.captureStackTrace(error);
    throw error;
  });
  const results = answers.slice(before.length).map((rows, place) => asked[place]?.toResult(rows));
  return queries.map((query) => query && results.shift()) as QueryResults<Queries>;
}

function roundTrip(
  client: pg.ClientBase,
  queries: readonly Query<unknown>[],
): Promise<Record<string, unknown>[][]> {
  return new Promise((resolve, reject) => {
    client.query(
      new PipelinedQueries(client as Client, queries, (error, results) =>
        error ? reject(error) : resolve(results),
      ),
    );
  });
}

/** The parts of pg's client, pooled or not, that @types/pg leaves out. */
type Client = pg.Client & {
  connectionParameters: { statement_timeout: number | false; query_timeout: number | false };
};

type Callback = (error: Error | null, results: Record<string, unknown>[][]) => void;

/**
 * Queries before one Sync message. The server answers them in order and commits at the Sync, unless
 * a transaction was begun. After an error the server skips everything up to the Sync.
 */
export class PipelinedQueries implements pg.Submittable {
  /** pg's client wraps it to enforce `query_timeout`. */
  callback: Callback;
  /** Milliseconds: the client's limit for one query, and the server's limit for each further one; 0 is no limit. */
  readonly query_timeout: number;
  readonly queries: readonly PreparedQuery[];
  #failure: Error | undefined;
  #answered = 0;

  /** Throws when a value cannot be sent. */
  constructor(client: Client, queries: readonly Query<unknown>[], callback: Callback) {
    this.callback = callback;
    const { statement_timeout: each, query_timeout: one } = client.connectionParameters;
    this.query_timeout = one ? one + (queries.length - 1) * (each || 0) : 0;
    this.queries = queries.map(({ config }) => new PreparedQuery(config));
  }

  /** Of the query being answered: pg's client records it as prepared under this name. */
  get name(): string {
    return this.#answering?.name ?? '';
  }

  get text(): string {
    return this.#answering?.text ?? '';
  }

  get #answering(): PreparedQuery | undefined {
    return this.queries[this.#answered];
  }

  /** Sends the queries, or returns why none of them is sent. */
  submit(pgConnection: pg.Connection): Error | null {
    const connection = pgConnection as unknown as Connection;
    const refused = this.queries.find((query) => {
      const first = this.queries.find(({ name }) => name === query.name);
      const prepared = query.preparedText(connection) ?? first?.text;
      return prepared !== query.text;
    });
    if (refused) return new Error(`the name '${refused.name}' is that of another statement`);
    connection.stream.cork();
    try {
      for (const query of this.queries) query.send(connection);
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
    return null;
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#answering?.describe(fields);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    try {
      this.#answering?.addRow(fields);
    } catch (error) {
      this.#failure ??= error as Error;
    }
  }

  handleCommandComplete({ text }: { text?: string } = {}): void {
    if (text === 'ROLLBACK' && this.text === 'COMMIT') this.#failure ??= new NotCommittedError();
    this.#answering?.complete();
    this.#answered += 1;
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete();
  }

  handleReadyForQuery(): void {
    const results = this.queries.map(({ rows }) => rows);
    this.callback(this.#failure ?? null, results);
  }

  handleError(error: Error, { submittedNamedStatements }: Connection): void {
    // The server skipped the queries after the refused one, so none of them is prepared.
    for (const { name } of this.queries.slice(this.#answered))
      delete submittedNamedStatements[name];
    this.callback(error, []);
  }
}
