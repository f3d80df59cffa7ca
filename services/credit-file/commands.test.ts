import { execFile } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unavailable } from '@creditlane/rpc/fault';
import { compiledModules } from '@creditlane/runtime/compiled-modules';
import { readSettings } from '@creditlane/runtime/setting';
import { silentLog } from '@creditlane/runtime/test-log';
import { CommandOptionError, type CommandOptions } from '@creditlane/service/service-command';
import { localSettings } from '@creditlane/service/settings';
import { describe, expect, onTestFinished, test } from 'vitest';
import { COMMANDS } from './commands.ts';
import { creditFile } from './service.ts';
import { KEYS, readEnded, request, type TestApplicant, useApplicant } from './test-credit-file.ts';

const fixture = useApplicant();

/** Runs a command with its options, and resolves to its success and what it printed. */
async function runCommand(name: string, options: CommandOptions = {}) {
  const { url, sql } = fixture.service.database;
  const values = {
    DATABASE_URL: url,
    KEY_RING: KEYS,
    DOCUMENT_LINK_KEY: 'AAAA',
    BUREAUS: 'EQUIFAX',
  };
  const { own: settings } = readSettings(values, localSettings(creditFile));
  const lines: object[] = [];
  const print = (line: object) => void lines.push(JSON.parse(JSON.stringify(line)));
  const command = COMMANDS[name];
  if (command === undefined) throw new Error(`there is no command ${name}`);
  const isDone = await command.run(
    { settings, database: { pool: sql }, log: silentLog, print },
    options,
  );
  return { isDone, lines };
}

/** Runs the service's main file as an operator does, in a process of its own. */
async function runMain(...args: string[]) {
  const { url } = fixture.service.database;
  const own = { DATABASE_URL: url, KEY_RING: KEYS, DOCUMENT_LINK_KEY: 'AAAA', BUREAUS: 'EQUIFAX' };
  const env = { ...compiledModules(), ...own };
  const main = join(import.meta.dirname, 'main.ts');
  const { code, stdout, stderr } = await promisify(execFile)(process.execPath, [main, ...args], {
    env,
  }).then(
    (ended) => ({ code: 0, ...ended }),
    (ended) => ended,
  );
  return { code, lines: linesOf(stdout), log: linesOf(stderr) };
}

function linesOf(output: string): object[] {
  const lines = output.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}

async function pull(applicant: TestApplicant): Promise<string> {
  const { id } = await request(fixture.service, applicant);
  await readEnded(fixture.service, applicant);
  return id;
}

test('--pull-evidence prints the pull, its records with their hashes, and the head of a whole chain', async () => {
  const { applicant } = fixture;
  const pullId = await pull(applicant);
  const { isDone, lines } = await runCommand('pull-evidence', { pull: pullId });
  expect(isDone).toBe(true);
  const [evidence] = lines as [
    {
      pull: { state: string; consent: { purpose: string } };
      records: { content: string; previousHash: string; hash: string }[];
      chain: { kind: string };
    },
  ];
  expect(evidence.pull).toMatchObject({ state: 'COMPLETE', consent: { textVersion: '2026-03' } });
  const actions = evidence.records.map(({ content }) => JSON.parse(content)[4]);
  expect(actions).toEqual(['PULL_REQUESTED', 'PULL_SENT', 'PULL_FINISHED', 'FILE_READ']);
  // Anybody can recompute the hashes.
  for (const { content, previousHash, hash } of evidence.records) {
    const bytes = Buffer.concat([Buffer.from(previousHash, 'hex'), Buffer.from(content)]);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(hash);
  }
  expect(evidence.chain.kind).toBe('whole');
  expect(JSON.stringify(evidence)).not.toMatch(/Tremblay|046454286/);

  const missing = await runCommand('pull-evidence', { pull: randomUUID() });
  expect(missing.isDone).toBe(false);
});

test('--verify-audit prints heads, and names the first broken record of a chain with exit code 1', {
  // A process of its own starts in a second, and in many on a busy machine.
  timeout: 60_000,
}, async () => {
  const { service, applicant } = fixture;
  await pull(applicant);
  const whole = await runCommand('verify-audit');
  expect(whole.isDone).toBe(true);
  const { retailerId } = applicant;
  expect(whole.lines).toContainEqual(expect.objectContaining({ retailerId, seq: 6 }));

  const directory = await mkdtemp(join(tmpdir(), 'noted-'));
  const noted = join(directory, 'heads.jsonl');
  await writeFile(noted, whole.lines.map((line) => JSON.stringify(line)).join('\n'));
  await service.sql.query('GRANT UPDATE ON audit_records TO CURRENT_USER');
  await service.sql.query('ALTER TABLE audit_records DISABLE TRIGGER USER');
  const forge = `UPDATE audit_records SET actor = 'forged' WHERE retailer_id = $1 AND seq = 4`;
  await service.sql.query(forge, [retailerId]);
  const [broken, misspelt] = await Promise.all([
    runMain('--verify-audit', '--noted', noted),
    runMain('--verify-audits'),
  ]);
  await rm(directory, { recursive: true });
  const msg = expect.stringMatching(/^--verify-audits is none of --check, --migrate, /);
  expect(misspelt).toMatchObject({ code: 1, lines: [], log: [{ level: 'fatal', msg }] });
  expect(broken.code).toBe(1);
  expect(broken.lines).toContainEqual({
    kind: 'broken',
    retailerId,
    seq: 4,
    problem: 'the record does not match its hash',
  });
});

describe('--verify-audit --noted', () => {
  async function verifyNoted(text: string | undefined) {
    const directory = await mkdtemp(join(tmpdir(), 'noted-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const noted = join(directory, 'heads.jsonl');
    if (text !== undefined) await writeFile(noted, text);
    return runCommand('verify-audit', { noted });
  }

  test('says how many heads were compared', async () => {
    await pull(fixture.applicant);
    const { lines } = await runCommand('verify-audit');
    const count = lines.at(-1) as { chains: number; broken: number };
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const noted = await verifyNoted(`a line of Docker\n${text}`);
    // A broken chain has no head to compare.
    expect(noted.lines.at(-1)).toEqual({ ...count, compared: count.chains - count.broken });
  });

  test.each([
    ['that is not there', undefined, / cannot be read: ENOENT$/],
    ['that is empty', '', / names no head of a chain$/],
    ['of something else', '{"retailerId":"x"}\n# heads', / names no head of a chain$/],
    [
      'that was cut off',
      '{"retailerId":"x","seq":1,"hash":"00"}\n{"retai',
      /: line 2 is no whole JSON$/,
    ],
  ])('a file %s is refused', async (_, text, message) => {
    await expect(verifyNoted(text)).rejects.toThrow(message);
    await expect(verifyNoted(text)).rejects.toThrow(CommandOptionError);
  });
});

test('--purge-files with --dry-run counts and deletes nothing, and without it deletes', async () => {
  const { service, applicant } = fixture;
  await pull(applicant);
  await service.sql.query(
    `UPDATE credit_files SET created_at = now() - interval '2 years' WHERE applicant_id = $1`,
    [applicant.applicantId],
  );
  const dry = await runCommand('purge-files', { 'dry-run': true });
  const { retailerId } = applicant;
  expect(dry.lines).toContainEqual(expect.objectContaining({ retailerId, files: 1 }));
  expect(dry.lines).toContainEqual({ due: 1, fileRetentionDays: 365 });
  expect((await readEnded(service, applicant)).state).toBe('COMPLETE');
  const purge = await runCommand('purge-files');
  expect(purge.lines).toContainEqual({ deleted: 1, fileRetentionDays: 365 });
});

test('--purge-files names a retailer whose audit log takes no record, and exits with 1', async () => {
  const { service, applicant } = fixture;
  await pull(applicant);
  const { applicantId, retailerId } = applicant;
  await service.sql.query(
    `UPDATE credit_files SET created_at = now() - interval '2 years' WHERE applicant_id = $1`,
    [applicantId],
  );
  const setHead = `UPDATE audit_heads SET sealed = $2 WHERE retailer_id = $1`;
  const find = 'SELECT sealed FROM audit_heads WHERE retailer_id = $1';
  const { rows } = await service.sql.query(find, [retailerId]);
  await service.sql.query(setHead, [retailerId, randomBytes(rows[0].sealed.length)]);
  const purge = await runCommand('purge-files');
  await service.sql.query(setHead, [retailerId, rows[0].sealed]);
  expect(purge).toEqual({
    isDone: false,
    lines: [
      { retailerId, problem: expect.any(String) },
      { deleted: 0, fileRetentionDays: 365 },
    ],
  });
});

test('--erase-applicant waits for the end, prints how far it is, and fails for an unknown applicant and wrong options', async () => {
  const { applicant, service } = fixture;
  await pull(applicant);
  const { retailerId, applicantId } = applicant;
  const options = { retailer: retailerId.toUpperCase(), applicant: applicantId };
  const ids = { retailerId, applicantId };
  service.applications.failure = unavailable('the fake is away');
  const begun = { ...ids, files: 1, personalData: 'PENDING' };
  expect(await runCommand('erase-applicant', { ...options, wait: '0' })).toEqual({
    isDone: false,
    lines: [begun],
  });
  service.applications.failure = undefined;
  // The running service finishes it.
  const finished = { isDone: true, lines: [{ ...ids, files: 0, personalData: 'ERASED' }] };
  expect(await runCommand('erase-applicant', options)).toEqual(finished);
  const unknown = { ...options, applicant: randomUUID() };
  expect((await runCommand('erase-applicant', unknown)).isDone).toBe(false);
  const wrong = runCommand('erase-applicant', { retailer: 'x' });
  await expect(wrong).rejects.toThrow('--retailer must be given, as a UUID');
  const soon = runCommand('erase-applicant', { ...options, wait: 'soon' });
  await expect(soon).rejects.toThrow('--wait must be a number of seconds');
});

test('--repeat-erasures repeats every erasure, and deletes the callers’ own ids of requests for the erased', async () => {
  const { applicant, service } = fixture;
  await pull(applicant);
  const { retailerId, applicantId } = applicant;
  await runCommand('erase-applicant', { retailer: retailerId, applicant: applicantId });
  // As an erasure by an earlier version has left it.
  await service.sql.query(`UPDATE pulls SET request_key = 'deal-7781' WHERE applicant_id = $1`, [
    applicantId,
  ]);
  await service.sql.query(
    `INSERT INTO joined_requests (applicant_id, request_key, retailer_id, pull_id)
     SELECT applicant_id, 'deal-7782', retailer_id, id FROM pulls WHERE applicant_id = $1`,
    [applicantId],
  );
  expect((await runCommand('repeat-erasures')).lines).toEqual([{ repeated: expect.any(Number) }]);
  const { rows } = await service.sql.query(
    `SELECT request_key FROM pulls WHERE applicant_id = $1
     UNION ALL SELECT request_key FROM joined_requests WHERE applicant_id = $1`,
    [applicantId],
  );
  expect(rows).toEqual([{ request_key: null }]);
});

test('--record-retailer-contexts has replicas that start in an earlier database name the retailer of the context', async () => {
  const { applicant, service } = fixture;
  const { sql } = service;
  const retailerContext = randomUUID();
  const requestByNewReplica = async () => {
    const replica = await service.startReplica();
    await request(replica, applicant, { retailerContext }).finally(() => replica.stop());
  };
  await sql.query(
    `UPDATE migrations SET floor = 'any' WHERE name = 'RetailerContexts1766100000000'`,
  );
  await requestByNewReplica();
  expect((await runCommand('record-retailer-contexts')).isDone).toBe(true);
  await requestByNewReplica();
  const { rows } = await sql.query(
    `SELECT action, retailer_context FROM audit_records WHERE applicant_id = $1
       AND action IN ('PULL_REQUESTED', 'PULL_JOINED') ORDER BY seq`,
    [applicant.applicantId],
  );
  expect(rows).toEqual([
    { action: 'PULL_REQUESTED', retailer_context: null },
    { action: 'PULL_JOINED', retailer_context: retailerContext },
  ]);
});

test('--rewrap-keys reports how many records had another key', async () => {
  await pull(fixture.applicant);
  const tables = ['applicant_keys', 'bureau_credentials', 'audit_heads'];
  const lines = tables.map((table) => ({ table, rewrapped: 0, left: 0 }));
  expect(await runCommand('rewrap-keys')).toEqual({ isDone: true, lines });
});
