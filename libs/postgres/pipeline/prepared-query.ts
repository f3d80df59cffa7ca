/**
 * One execution of a prepared statement on a connection of pg: its messages, and the rows of its answer. pg's own query asks
 * for the columns of the result in each execution, and finds the parsers of their values anew, which took a twelfth of Node's
 * CPU for a webhook. Here both are done once for each statement and connection.
 */
import pg from 'pg';

/** A statement with its values, and the function that makes the result of its rows; `defineStatement` makes them. */
export interface Query<Result> {
  readonly config: {
    readonly name: string;
    readonly text: string;
    readonly values: unknown[];
    /** Parse the text of each column's value. */
    readonly types: pg.CustomTypesConfig;
  };
  toResult(rows: unknown[]): Result;
}

type SentValue = string | Buffer | null;

/** pg's own, which @types/pg leaves out. Throws when a value cannot be sent. */
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): SentValue } })
  .utils;

/** The parts of pg's connection that @types/pg leaves out. */
export interface Connection {
  readonly stream: { cork(): void; uncork(): void };
  /** The texts of the prepared statements, by name. */
  readonly parsedStatements: Record<string, string | undefined>;
  /** The texts of the statements sent for preparation, by name. */
  readonly submittedNamedStatements: Record<string, string | undefined>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: readonly SentValue[] }): void;
  describe(message: { type: 'P' }): void;
  execute(message: Record<string, never>): void;
  sync(): void;
}

/** The columns of a statement's result; null for a statement without a result. */
type Columns = { names: string[]; parsers: ((text: string) => unknown)[]; nulls: Row } | null;

type Row = Record<string, unknown>;

/**
 * The columns of each connection's prepared statements, by name. They stay as they are: PostgreSQL refuses a prepared
 * statement whose columns have changed, for as long as the connection lives (0A000).
 */
const knownColumns = new WeakMap<Connection, Map<string, Columns>>();

export class PreparedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: readonly SentValue[];
  readonly rows: Row[] = [];
  readonly #types: pg.CustomTypesConfig;
  #knownColumns: Map<string, Columns> | undefined;
  #columns: Columns | undefined;

  /** Throws when a value cannot be sent. */
  constructor({ name, text, values, types }: Query<unknown>['config']) {
    this.name = name;
    this.text = text;
    this.values = values.map((value) => prepareValue(value));
    this.#types = types;
  }

  /** The text that the connection has prepared under this name. */
  preparedText({ parsedStatements, submittedNamedStatements }: Connection): string | undefined {
    return parsedStatements[this.name] ?? submittedNamedStatements[this.name];
  }

  /** Sends everything but the Sync. */
  send(connection: Connection): void {
    const { name, text } = this;
    if (this.preparedText(connection) === undefined) {
      connection.parse({ name, text });
      connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: this.values });
    this.#knownColumns = columnsOf(connection);
    this.#columns = this.#knownColumns.get(name);
    if (this.#columns === undefined) connection.describe({ type: 'P' });
    connection.execute({});
  }

  /** Notes the columns of the result. */
  describe(fields: readonly pg.FieldDef[]): void {
    const names = fields.map((field) => field.name);
    this.#columns = {
      names,
      parsers: fields.map(({ dataTypeID }) => this.#types.getTypeParser(dataTypeID, 'text')),
      nulls: Object.fromEntries(names.map((column) => [column, null])),
    };
  }

  /** Throws when a value has no counterpart in JavaScript. */
  addRow(values: readonly (string | null)[]): void {
    if (!this.#columns) throw new Error(`a row of '${this.name}' came without its columns`);
    const { names, parsers, nulls } = this.#columns;
    const row = { ...nulls };
    for (const [index, value] of values.entries()) {
      row[names[index] as string] = value === null ? null : parsers[index]?.(value);
    }
    this.rows.push(row);
  }

  /** Keeps the columns for the next execution. Called when the server has executed the query. */
  complete(): void {
    this.#knownColumns?.set(this.name, this.#columns ?? null);
  }
}

function columnsOf(connection: Connection): Map<string, Columns> {
  const known = knownColumns.get(connection) ?? new Map<string, Columns>();
  knownColumns.set(connection, known);
  return known;
}
