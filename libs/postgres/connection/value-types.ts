/** The JavaScript types of PostgreSQL's values, for every connection of a service. */
import pg from 'pg';

const { builtins } = pg.types;

/** Throws `RangeError` instead of rounding: a rounded id would be the id of another row. */
function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is not a safe integer`);
  return value;
}

const PARSERS: Partial<Record<number, (text: string) => unknown>> = {
  [builtins.INT8]: safeInteger,
  [builtins.NUMERIC]: Number,
  // A calendar date has no time zone, so it stays the text "yyyy-MM-dd".
  [builtins.DATE]: (text) => text,
};

/** int8 and numeric as number, date as "yyyy-MM-dd", timestamptz as Date, jsonb parsed, bytea as Buffer. */
export const VALUE_TYPES: pg.CustomTypesConfig = {
  // pg requests a parser by type oid. Results are in the text format.
  getTypeParser: ((oid: number, format?: 'text') =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};
