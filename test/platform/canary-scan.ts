// Looks for secrets in the clear in what a platform stores and writes, in the encodings in which they could be there.
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { runSql } from './run-sql.ts';

/** A value that must be nowhere in the clear, with the other ways of writing it, such as with dashes. */
export interface Canary {
  name: string;
  texts: readonly (string | Buffer)[];
}

/** Bytes of one place, such as a table or a file of the write-ahead log. */
export interface Searched {
  place: string;
  bytes: Buffer;
}

/** "SIN as hex in creditlane_applications.applicants", for every canary, encoding and place that match. */
export async function findCanaries(
  places: AsyncIterable<Searched>,
  canaries: readonly Canary[],
): Promise<string[]> {
  const forms = canaries.flatMap(({ name, texts }) =>
    texts.flatMap((text) => formsOf(text).map(([form, bytes]) => ({ name, form, bytes }))),
  );
  const found = new Set<string>();
  for await (const { place, bytes } of places) {
    for (const { name, form, bytes: sought } of forms) {
      if (bytes.includes(sought)) found.add(`${name} as ${form} in ${place}`);
    }
  }
  return [...found].toSorted();
}

/** The byte sequences by which a text could be stored, each with the name of its encoding. */
function formsOf(text: string | Buffer): [form: string, bytes: Buffer][] {
  const bytes = Buffer.from(text as Uint8Array);
  const hex = bytes.toString('hex');
  const utf16 = Buffer.from(bytes.toString('latin1'), 'utf16le');
  const base64 = [0, 1, 2].map((offset) => base64At(bytes, offset));
  return [
    ['text', bytes],
    ['hex', Buffer.from(hex)],
    ['hex', Buffer.from(hex.toUpperCase())],
    ['UTF-16', utf16],
    ['UTF-16', Buffer.from(utf16).swap16()],
    ...base64.flatMap((it): [string, Buffer][] => [
      ['base64', Buffer.from(it)],
      ['base64', Buffer.from(it.replaceAll('+', '-').replaceAll('/', '_'))],
    ]),
    ...compressedForms(bytes),
  ];
}

/** The base64 of bytes that stand `offset` bytes after a multiple of three, without digits of their neighbours. */
function base64At(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/**
 * What remains of the bytes in a value that PostgreSQL has compressed by pglz, as WAL keeps it: before every eight
 * literal bytes comes a control byte, which is 0 when all eight are literal. The last group may have another one, so
 * the search ends before it.
 */
function compressedForms(bytes: Buffer): [string, Buffer][] {
  const LITERALS = 8;
  if (bytes.length < 2 * LITERALS) return [];
  return Array.from({ length: LITERALS }, (_, first) => {
    const groups = [bytes.subarray(0, first)];
    for (let at = first; at + LITERALS <= bytes.length; at += LITERALS) {
      groups.push(Buffer.from([0]), bytes.subarray(at, at + LITERALS));
    }
    return ['compressed text', Buffer.concat(groups)];
  });
}

/** Every other value as PostgreSQL prints it, bytea as its bytes. */
const TYPES = {
  getTypeParser: (oid: number) =>
    oid === pg.types.builtins.BYTEA
      ? (text: string) => Buffer.from(text.slice('\\x'.length), 'hex')
      : (text: string) => text,
} as unknown as pg.CustomTypesConfig;

/**
 * A logical dump of every database of the server: each value of each table, which PostgreSQL returns decompressed, and
 * the values that its statistics keep. Rows of one table are one place.
 */
export async function* dumpDatabases(adminUrl: string): AsyncGenerator<Searched> {
  const names = 'SELECT datname FROM pg_database WHERE datallowconn ORDER BY 1';
  for (const { datname } of await runSql(adminUrl, names)) {
    const url = new URL(adminUrl);
    url.pathname = `/${datname}`;
    const tables = await runSql(
      url.href,
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
    );
    for (const { name } of [...tables, { name: 'pg_catalog.pg_stats' }]) {
      yield { place: `${datname} ${name}`, bytes: await dumpTable(url.href, String(name)) };
    }
  }
}

async function dumpTable(url: string, table: string): Promise<Buffer> {
  const rows = await runSql(url, { text: `SELECT * FROM ${table}`, types: TYPES });
  const values = rows.flatMap((row) => Object.values(row));
  const parts = values.map((it) => (Buffer.isBuffer(it) ? it : Buffer.from(String(it))));
  return Buffer.concat(parts.flatMap((part) => [part, Buffer.from('\n')]));
}

/** The present end of the write-ahead log. */
export async function findWalEnd(adminUrl: string): Promise<string> {
  const [row] = await runSql(adminUrl, 'SELECT pg_current_wal_insert_lsn() AS lsn');
  return String(row?.lsn);
}

/** What was written to the write-ahead log since its end was at `since`, file by file. */
export async function* readWal(adminUrl: string, since: string): AsyncGenerator<Searched> {
  const files = await runSql(
    adminUrl,
    `SELECT name, CASE WHEN name = first.file_name THEN first.file_offset ELSE 0 END AS start,
       CASE WHEN name = last.file_name THEN last.file_offset ELSE size END AS stop
     FROM pg_ls_waldir(), pg_walfile_name_offset('${since}') AS first,
       pg_walfile_name_offset(pg_current_wal_insert_lsn()) AS last
     WHERE name ~ '^[0-9A-F]{24}$' AND name BETWEEN first.file_name AND last.file_name ORDER BY name`,
  );
  for (const { name, start, stop } of files) {
    const [row] = await runSql(
      adminUrl,
      `SELECT pg_read_binary_file('pg_wal/${name}', ${start}, ${stop} - ${start}) AS bytes`,
    );
    yield { place: 'WAL', bytes: withoutPageHeaders(row?.bytes as Buffer, Number(start)) };
  }
}

const WAL_PAGE_BYTES = 8_192;
const WAL_HEADER_BYTES = { firstPage: 40, otherPage: 24 };

/** The records of a WAL file from an offset on: a record that goes on in the next page has the header of that page in its middle. */
function withoutPageHeaders(bytes: Buffer, offset: number): Buffer {
  const parts: Buffer[] = [];
  const { firstPage, otherPage } = WAL_HEADER_BYTES;
  for (let at = offset; at < offset + bytes.length; ) {
    const page = at - (at % WAL_PAGE_BYTES);
    const records = page + (page === 0 ? firstPage : otherPage);
    const end = page + WAL_PAGE_BYTES;
    parts.push(bytes.subarray(Math.max(at, records) - offset, end - offset));
    at = end;
  }
  return Buffer.concat(parts);
}

/**
 * Stores a value in the clear, in each encoding, and in a row that PostgreSQL compresses, to prove that a search finds
 * it. The table stays in the database "postgres", which the platform does not use.
 */
export async function seedLeak(adminUrl: string): Promise<Canary> {
  // Four characters that occur twice would be compressed: of 48 random hex digits every seventieth text has such.
  const text = `Leak${randomBytes(24).toString('base64url')}`;
  const bytes = Buffer.from(text);
  const utf16 = Buffer.from(text, 'utf16le').toString('hex');
  await runSql(adminUrl, 'CREATE TABLE leak (value text, bytes bytea)');
  await runSql(
    adminUrl,
    `INSERT INTO leak VALUES ('<${bytes.toString('hex')}>', '\\x${utf16}'),
       ('<${bytes.toString('base64')}>', NULL), ('${text}' || repeat(' compressed', 1000), NULL)`,
  );
  return { name: 'seeded leak', texts: [text] };
}

/** The segments of Kafka's partitions below a directory. */
export async function* readSegments(directory: string): AsyncGenerator<Searched> {
  for (const path of await readdir(directory, { recursive: true })) {
    if (/\/\d{20}\.log$/.test(path)) {
      yield { place: 'Kafka', bytes: await readFile(join(directory, path)) };
    }
  }
}
