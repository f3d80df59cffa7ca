// Services reach PostgreSQL by TLS, and only a server whose certificate is trusted.

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { connect } from 'node:tls';
import { startEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import { seedDemoData } from '@creditlane/local/demo/demo';
import { HOST } from '@creditlane/local/host';
import { startPlatform } from '@creditlane/local/platform';
import { choosePorts } from '@creditlane/local/ports';
import { type DatabaseUrls, prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import { compiledModules } from '@creditlane/runtime/compiled-modules';
import {
  type IssuedFiles,
  TestCertificateAuthority,
} from '@creditlane/runtime/test-certificate-authority';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { afterAll, beforeAll, beforeEach, expect, inject, onTestFinished, test } from 'vitest';
import { runSql } from './platform/run-sql.ts';
import { runToExit } from './platform/run-to-exit.ts';
import { createDataDir, removeDataDir } from './platform/temporary-data-dir.ts';
import { writeServerCertificate, writeTlsFiles } from './platform/tls-postgres.ts';

const DECISIONS = resolve(import.meta.dirname, '../services/decisions/main.ts');
const authority = new TestCertificateAuthority(afterAll);
const [trusted, ofOtherName] = [authority.issue(), authority.issue('DNS:db.example')];
const ofOtherAuthority = new TestCertificateAuthority(afterAll).issue();
const secrets = makeSecrets();

let dir: string;
let adminUrl: string;
let databaseUrls: DatabaseUrls;
beforeAll(async () => {
  dir = await createDataDir('tls-postgres');
  // The launcher of the server asks it as its administrator.
  const settings = await writeTlsFiles(dir, trusted, 'all creditlane_admin 127.0.0.1/32');
  const password = 'administrator';
  const server = await startEmbeddedPostgres({ dataDir: join(dir, 'data'), password, settings });
  adminUrl = server.adminUrl;
  databaseUrls = await prepareDatabases(adminUrl, secrets);
  return async () => {
    await server.close();
    await removeDataDir(dir);
  };
});
beforeEach(() => present(trusted));

/** Has the server present a certificate, and resolves once it does. */
async function present(certificate: IssuedFiles): Promise<void> {
  await writeServerCertificate(dir, certificate);
  await runSql(adminUrl, 'SELECT pg_reload_conf()');
  const { fingerprint256 } = new X509Certificate(await readFile(certificate.cert));
  await expect.poll(presentedFingerprint).toBe(fingerprint256);
}

async function presentedFingerprint(): Promise<string> {
  const { hostname: host, port } = new URL(adminUrl);
  const options = { rejectUnauthorized: false, ALPNProtocols: ['postgresql'] };
  const socket = connect({ host, port: Number(port), ...options });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

type Mode = 'require' | 'verify-full';
const overTls = (url: string, mode: Mode) => `${url}?sslmode=${mode}&sslrootcert=${trusted.ca}`;

/** Starts the platform in one process, with demo data. */
async function startOverTls() {
  const testProcess = createTestProcess('tls');
  onTestFinished(() => testProcess.closers.close());
  const urls = Object.entries(databaseUrls).map(([owner, url]) => [
    owner,
    overTls(url, 'verify-full'),
  ]);
  const ports = await choosePorts({ first: 0, host: HOST });
  const options = { ports, secrets, databaseUrls: Object.fromEntries(urls) as DatabaseUrls };
  const { baseUrl } = await startPlatform(options, testProcess);
  const { platformKey } = secrets;
  const { key } = await seedDemoData({ baseUrl, platformKey, inboxUrl: `http://${HOST}:1` });
  const headers = { authorization: `Bearer ${key}` };
  return {
    /** The status of a list of applications. */
    list: async () => (await fetch(`${baseUrl}/applications`, { headers })).status,
  };
}

const CONNECTIONS = `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
  WHERE usename LIKE 'creditlane%' AND usename <> 'creditlane_admin'`;

test('the platform serves by TLS alone, and while the certificate is not trusted answers 503', async () => {
  const { list } = await startOverTls();
  expect(await list()).toBe(200);
  const encrypted = (await runSql(adminUrl, CONNECTIONS)).map(({ ssl }) => ssl);
  expect(encrypted.length).toBeGreaterThan(6);
  expect(encrypted).not.toContain(false);

  await present(ofOtherAuthority);
  await runSql(adminUrl, CONNECTIONS.replace('ssl', 'pg_terminate_backend(pid)'));
  await expect.poll(list).toBe(503);
  expect(await list()).toBe(503);
  await present(trusted);
  await expect.poll(list).toBe(200);
});

/** Runs the migrations of decisions on a database. Resolves to the exit code, and what the process wrote. */
function migrate(databaseUrl: string) {
  return runToExit(process.execPath, [DECISIONS, '--migrate'], {
    // The setting of Node by which it would take any certificate, and its warning of that.
    env: {
      ...compiledModules(),
      DATABASE_URL: databaseUrl,
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      NODE_NO_WARNINGS: '1',
    },
  });
}

test('with sslmode=require, too, a server whose certificate is of another authority, or names another host, is refused with the reason', async () => {
  const url = overTls(databaseUrls.decisions, 'require');
  expect(await migrate(url)).toMatchObject({ code: 0, stderr: '' });
  await present(ofOtherAuthority);
  expect(await migrate(url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('unable to verify the first certificate'),
  });
  await present(ofOtherName);
  expect(await migrate(url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("IP: 127.0.0.1 is not in the cert's list"),
  });
});

test('a server without TLS is refused with the reason', async () => {
  expect(await migrate(overTls(inject('postgresUrl'), 'verify-full'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The server does not support SSL connections'),
  });
});
