/** For the tests: a program that prints what queries leave in V8's old generation. Arguments: a URL, `pipeline` or `query`. */
import { printOldBytes } from '@creditlane/runtime/test-old-generation';
import pg from 'pg';
import { defineStatement, runQuery } from '../statement.ts';
import { runPipeline } from './pipeline.ts';

const [connectionString, what] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 1, query_timeout: 5_000 });
const echo = defineStatement<{ number: number }>('echo', 'SELECT $1::int AS number');
await printOldBytes(() =>
  what === 'query'
    ? runQuery(pool, echo.query([1]))
    : runPipeline(pool, [echo.query([1]), echo.query([2])]),
);
await pool.end();
