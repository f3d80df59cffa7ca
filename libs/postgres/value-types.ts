/** How PostgreSQL's values arrive in JavaScript, on every connection of ours. */
import pg from 'pg';

const { builtins } = pg.types;

/** Throws `RangeError` rather than round: an id that is off by one is another row's. */
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
  // pg asks for a parser by oid; the format is text wherever it reads results by these.
  getTypeParser: ((oid: number, format?: 'text') =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};
