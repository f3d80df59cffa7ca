/** Several queries in one round trip: a message there, an answer back, and all of them or none. */
import pg from 'pg';
import { type Query, type Queryable, useConnection } from './statement.ts';

/** The answers of the queries, each in its place; undefined where there was none to ask. */
export type QueryResults<Queries extends readonly unknown[]> = {
  -readonly [Place in keyof Queries]: Queries[Place] extends Query<infer Answer>
    ? Answer
    : Queries[Place] extends Query<infer Answer> | undefined
      ? Answer | undefined
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
  const results = await useConnection(db, (client) => roundTrip(client, asked)).catch((error) => {
    // It was made where the answer was read; who asked is what helps.
    Error.captureStackTrace(error);
    throw error;
  });
  const answers = results.map(({ rows }, place) => asked[place]?.toResult(rows));
  return queries.map((query) => query && answers.shift()) as QueryResults<Queries>;
}

function roundTrip(
  client: pg.ClientBase,
  queries: readonly Query<unknown>[],
): Promise<pg.QueryResult[]> {
  if (queries.length === 0) return Promise.resolve([]);
  return new Promise((resolve, reject) => {
    client.query(
      new PipelinedQueries(client as Client, queries, (error, results) =>
        error ? reject(error) : resolve(results),
      ),
    );
  });
}

/** What every connection of pg's is, also one that a pool lends. */
type Client = pg.Client & {
  connectionParameters: { statement_timeout: number | false; query_timeout: number | false };
};

/** What pg's own query does when its connection calls, which the types do not tell. */
type Part = pg.Query & {
  name: string;
  text: string;
  callback(error: Error | null, result: pg.QueryResult): void;
  submit(connection: pg.Connection): Error | null;
} & Record<Handler, (...args: unknown[]) => void>;

type Handler =
  | 'handleRowDescription'
  | 'handleDataRow'
  | 'handleCommandComplete'
  | 'handleEmptyQuery'
  | 'handleReadyForQuery'
  | 'handleError';

/** Texts of statements that the server was asked to prepare, by name. */
interface Prepared {
  submittedNamedStatements: Record<string, string>;
}

type Callback = (error: Error | null, results: pg.QueryResult[]) => void;

/**
 * Queries of pg before one Sync message. The server answers them in order and commits at the Sync, unless
 * a transaction was begun. After an error the server skips everything up to the Sync.
 */
class PipelinedQueries implements pg.Submittable {
  /** The client puts its own around it, for the time that it waits at most. */
  callback: Callback;
  /** As long as the server may take over each, and then as long as over one: 0 is for ever. */
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
    this.#parts = queries.map(({ config }) => {
      const part = new pg.Query(config) as Part;
      part.callback = (error, result) => {
        if (error) this.#failure ??= error;
        else this.#results.push(result);
      };
      return part;
    });
  }

  /** What is being answered: under this name the client notes it as prepared. */
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
          // Of what went before it nothing may happen: a Sync would commit it.
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
    // Whatever came behind the one that was refused was not even prepared.
    for (const { name } of this.#parts.slice(this.#answered)) delete submittedNamedStatements[name];
    this.callback(error, []);
  }
}
