/**
 * Several queries in one round trip, as one transaction: pg's own queries under a single Sync message.
 *
 * The class below uses private parts of pg 8.23.1; pipeline.test.ts fails when that version changes. pg's
 * own pipeline mode (`pipeline: true`, with BEGIN and COMMIT) was measured instead and not taken: it
 * sends a Sync after every query. CPU of node and PostgreSQL together was 218 instead of 151 µs for two
 * queries and 361 instead of 194 µs for six; of the whole platform in one process, 0.54 instead of
 * 0.49 ms for each decision and 0.76 instead of 0.64 ms for each delivered webhook (means of 4 and 2
 * runs in turns, 2 cores).
 */
import pg from 'pg';
import { type Query, type Queryable, ScopedPool, useConnection } from './query.ts';

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
  const asked = queries.filter((query) => query !== undefined);
  if (asked.length === 0) return queries.map(() => undefined) as QueryResults<Queries>;
  const before = db instanceof ScopedPool ? [db.enterScope] : [];
  const sent = [...before, ...asked];
  const answers = await useConnection(db, (client) => roundTrip(client, sent)).catch((error) => {
    // The driver creates the error in its socket handler; the caller's stack is the useful one.
    Error.captureStackTrace(error);
    throw error;
  });
  const results = answers
    .slice(before.length)
    .map(({ rows }, place) => asked[place]?.toResult(rows));
  return queries.map((query) => query && results.shift()) as QueryResults<Queries>;
}

function roundTrip(
  client: pg.ClientBase,
  queries: readonly Query<unknown>[],
): Promise<pg.QueryResult[]> {
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

/** The methods that a connection calls on pg's query, which @types/pg leaves out. */
type Part = pg.Query & {
  name: string;
  text: string;
  submit(connection: pg.Connection): Error | null;
} & Record<Handler, (...args: unknown[]) => void>;

type Handler =
  | 'handleRowDescription'
  | 'handleDataRow'
  | 'handleCommandComplete'
  | 'handleEmptyQuery'
  | 'handleReadyForQuery'
  | 'handleError';

/** The texts of the statements sent for preparation, by name. */
interface Prepared {
  submittedNamedStatements: Record<string, string>;
}

type Callback = (error: Error | null, results: pg.QueryResult[]) => void;

/**
 * Queries of pg before one Sync message. The server answers them in order and commits at the Sync, unless
 * a transaction was begun. After an error the server skips everything up to the Sync.
 */
class PipelinedQueries implements pg.Submittable {
  /** pg's client wraps it to enforce `query_timeout`. */
  callback: Callback;
  /** Milliseconds: the client's limit for one query, and the server's limit for each further one; 0 is no limit. */
  readonly query_timeout: number;
  readonly #client: Client;
  readonly #parts: readonly Part[];
  readonly #results: pg.QueryResult[] = [];
  #failure: Error | undefined;
  #answered = 0;

  constructor(client: Client, queries: readonly Query<unknown>[], callback: Callback) {
    this.callback = callback;
    this.#client = client;
    const { statement_timeout: each, query_timeout: one } = client.connectionParameters;
    this.query_timeout = one ? one + (queries.length - 1) * (each || 0) : 0;
    // One function for all parts, passed as an argument: assigned to a property, it would be allocated in V8's old
    // generation (pg@8.23.1.patch).
    const onResult = (error: Error | null | undefined, result: pg.QueryResult) => {
      if (error) this.#failure ??= error;
      else this.#results.push(result);
    };
    this.#parts = queries.map(({ config }) => new pg.Query(config, onResult) as Part);
  }

  /** Of the query being answered: pg's client records it as prepared under this name. */
  get name(): string {
    return this.#part?.name ?? '';
  }

  get text(): string {
    return this.#part?.text ?? '';
  }

  get #part(): Part | undefined {
    return this.#parts[this.#answered];
  }

  submit(connection: pg.Connection): Error | null {
    const withoutSync: pg.Connection = Object.create(connection, {
      sync: { value: () => undefined },
    });
    connection.stream.cork();
    try {
      for (const part of this.#parts) {
        const refusal = part.submit(withoutSync);
        this.#failure ??= refusal ?? undefined;
        if (this.#failure !== undefined) {
          // The earlier queries were sent, and a Sync would commit them: the connection is closed instead.
          void this.#client.end();
          return this.#failure;
        }
      }
      connection.sync();
      return null;
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription(message: unknown): void {
    this.#part?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#part?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: pg.Connection): void {
    this.#part?.handleCommandComplete(message, connection);
    this.#answered += 1;
  }

  handleEmptyQuery(connection: pg.Connection): void {
    this.#part?.handleEmptyQuery(connection);
    this.#answered += 1;
  }

  handleReadyForQuery(connection: pg.Connection): void {
    for (const part of this.#parts) part.handleReadyForQuery(connection);
    this.callback(this.#failure ?? null, this.#results);
  }

  handleError(error: Error, { submittedNamedStatements }: Prepared): void {
    // The server skipped the queries after the refused one, so none of them is prepared.
    for (const { name } of this.#parts.slice(this.#answered)) delete submittedNamedStatements[name];
    this.callback(error, []);
  }
}
