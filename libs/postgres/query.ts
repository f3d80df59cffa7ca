/** Queries, as `defineStatement` makes them. */
import type pg from 'pg';

/** A statement with its values, and the function that makes the result of its rows. */
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
