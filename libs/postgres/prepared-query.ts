/**
 * One execution of a prepared statement on a connection of pg: its messages, and the rows of its answer. pg's own query asks
 * for the columns of the result each time, and finds the parsers of their values anew; here both are done once for each
 * statement and connection, which took a tenth of Node's CPU for a webhook.
 */
import pg from 'pg';
import type { Query } from './query.ts';

type SentValue = string | Buffer | null;

/** @types/pg leaves it out. Throws when a value cannot be sent. */
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
type Columns = { names: string[]; parsers: ((text: string) => unknown)[]; empty: Row } | null;

type Row = Record<string, unknown>;

/**
 * The columns of each connection's prepared statements, by name. They stay as they are: PostgreSQL refuses to execute a
 * prepared statement whose columns have changed.
 */
const knownColumns = new WeakMap<Connection, Map<string, Columns>>();

export class PreparedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: readonly SentValue[];
  readonly rows: Row[] = [];
  readonly #types: pg.CustomTypesConfig;
  #known: Map<string, Columns> | undefined;
  #columns: Columns | undefined;

  /** Throws when a value cannot be sent. */
  constructor({ name, text, values, types }: Query<unknown>['config']) {
    this.name = name;
    this.text = text;
    this.values = values.map((value) => prepareValue(value));
    this.#types = types;
  }

  /** Whether the connection has prepared another statement under this name. */
  hasOtherText(connection: Connection): boolean {
    const text = textOf(this.name, connection);
    return text !== undefined && text !== this.text;
  }

  /** Sends everything but the Sync. */
  send(connection: Connection): void {
    const { name, text } = this;
    const isPrepared = textOf(name, connection) !== undefined;
    if (!isPrepared) {
      connection.parse({ name, text });
      connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: this.values });
    this.#known = columnsOf(connection);
    this.#columns = this.#known.get(name);
    if (this.#columns === undefined) connection.describe({ type: 'P' });
    connection.execute({});
  }

  /** Notes the columns of the result. */
  describe(fields: readonly pg.FieldDef[]): void {
    const names = fields.map((field) => field.name);
    this.#columns = {
      names,
      parsers: fields.map(({ dataTypeID }) => this.#types.getTypeParser(dataTypeID, 'text')),
      empty: Object.fromEntries(names.map((column) => [column, null])),
    };
  }

  /** Throws when a value has no counterpart in JavaScript. */
  addRow(values: readonly (string | null)[]): void {
    if (!this.#columns) throw new Error(`a row of '${this.name}' came without its columns`);
    const { names, parsers, empty } = this.#columns;
    const row = { ...empty };
    for (const [index, value] of values.entries()) {
      if (value !== null) row[names[index] as string] = parsers[index]?.(value);
    }
    this.rows.push(row);
  }

  /** The server has executed the query. */
  complete(): void {
    this.#known?.set(this.name, this.#columns ?? null);
  }
}

function columnsOf(connection: Connection): Map<string, Columns> {
  const known = knownColumns.get(connection) ?? new Map<string, Columns>();
  knownColumns.set(connection, known);
  return known;
}

function textOf(
  name: string,
  { parsedStatements, submittedNamedStatements }: Connection,
): string | undefined {
  return parsedStatements[name] ?? submittedNamedStatements[name];
}
