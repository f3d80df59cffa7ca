/** Runs a pipeline of queries whose results are found by name instead of by position. */
import type { Query, Queryable } from '../query.ts';
import { runPipeline } from './pipeline.ts';

type NamedQueries = Readonly<Record<string, Query<unknown> | undefined>>;

/** The result of each query under its name; `undefined` where there was no query. */
type NamedResults<Queries extends NamedQueries> = {
  -readonly [Name in keyof Queries]: Queries[Name] extends Query<infer Result>
    ? Result
    : Queries[Name] extends Query<infer Result> | undefined
      ? Result | undefined
      : never;
};

/** Runs the queries in the order in which they are written, as `runPipeline` does. */
export async function runNamedPipeline<Queries extends NamedQueries>(
  db: Queryable,
  queries: Queries,
): Promise<NamedResults<Queries>> {
  const results = await runPipeline(db, Object.values(queries));
  const named = Object.keys(queries).map((name, index) => [name, results[index]]);
  return Object.fromEntries(named) as NamedResults<Queries>;
}
