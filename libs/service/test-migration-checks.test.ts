import { migrate } from '@creditlane/postgres/migrate';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { silentLog } from '@creditlane/runtime/test-log';
import { expect, onTestFinished, test } from 'vitest';
import { withChecks } from './test-migration-checks.ts';

const TABLES = sqlMigration('Tables1764900000000', {
  up: ['CREATE TABLE kinds (id int PRIMARY KEY)', 'CREATE TABLE things (id int, name text)'],
});
const PERMITTED = [
  'CREATE TABLE boxes (id int PRIMARY KEY, thing text NOT NULL UNIQUE CHECK (id > 0))',
  'ALTER TABLE things ADD COLUMN kind int REFERENCES kinds, ADD COLUMN size int NOT NULL DEFAULT 1',
];
const REFUSED = {
  'ALTER TABLE things ADD COLUMN colour text NOT NULL': 'restricts things: column colour text',
  'CREATE UNIQUE INDEX named ON things (name)': 'restricts things: index CREATE UNIQUE INDEX',
  'ALTER TABLE things DROP COLUMN name': 'takes from things: column name',
  'ALTER TABLE things ADD CHECK (id > 0) NOT VALID': 'restricts things: constraint CHECK',
  'ALTER TABLE things ADD FOREIGN KEY (id) REFERENCES kinds NOT VALID':
    'restricts things: constraint',
  'ALTER TABLE things ENABLE ROW LEVEL SECURITY': 'restricts things: row security',
  'ALTER TABLE kinds ALTER COLUMN id TYPE bigint': 'takes from kinds: column id integer not null',
  'CREATE INDEX locking ON things (id)': 'reads things',
  'UPDATE things SET size = 2': 'reads things',
  'ALTER TABLE things ALTER COLUMN kind SET NOT NULL': 'reads things',
};

test('a migration that says it only adds is found when it does more, or reads a table under its locks', async () => {
  const { url, drop } = await createTestDatabase('checks');
  onTestFinished(drop);
  const findings: string[] = [];
  const statements = [...PERMITTED, ...Object.keys(REFUSED)];
  const migrations = statements.map((statement, n) =>
    sqlMigration(`Step${1_765_000_000_000 + n}`, {
      up: [statement],
      compatibility: 'only adds',
    }),
  );
  const silent = sqlMigration('Silent1765000001000', { up: [] });
  const checked = [...migrations, silent].map((it) => withChecks(it, findings));
  await migrate(url, [TABLES, ...checked], silentLog);

  const expected = Object.values(REFUSED).map((finding, n) =>
    expect.stringContaining(`Step${1_765_000_000_000 + PERMITTED.length + n} ${finding}`),
  );
  for (const finding of expected) expect(findings).toContainEqual(finding);
  const permitted = PERMITTED.map((_, n) => `Step${1_765_000_000_000 + n}`);
  expect(findings.filter((it) => permitted.some((name) => it.startsWith(name)))).toEqual([]);
  expect(findings[0]).toContain('Silent1765000001000 does not say');
});
