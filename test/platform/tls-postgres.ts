// What makes a PostgreSQL one that admits services by TLS only, as in production.
import { chown, copyFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { postgresOsUser } from '@creditlane/embedded-postgres/os-user';
import type { IssuedFiles } from '@creditlane/runtime/test-certificate-authority';

const [CERT, KEY, HBA] = ['server.crt', 'server.key', 'pg_hba.conf'] as const;

/**
 * Writes the server's certificate and who is admitted to a directory that PostgreSQL can enter. Resolves to the settings that name
 * the files.
 *
 * @param plain who is also admitted without TLS, as fields of pg_hba.conf: database, user and address
 */
export async function writeTlsFiles(
  dir: string,
  certificate: IssuedFiles,
  plain: string,
): Promise<Record<string, string>> {
  const admitted = [`host ${plain}`, 'local all all', 'hostssl all all all'];
  const lines = admitted.map((it) => `${it} scram-sha-256\n`);
  await writeFile(join(dir, HBA), lines.join(''), { mode: 0o644 });
  await writeServerCertificate(dir, certificate);
  return {
    ssl: 'on',
    ssl_cert_file: join(dir, CERT),
    ssl_key_file: join(dir, KEY),
    hba_file: join(dir, HBA),
  };
}

/** Replaces the certificate; new connections get it once the server has reloaded its settings. */
export async function writeServerCertificate(
  dir: string,
  { cert, key }: IssuedFiles,
): Promise<void> {
  // PostgreSQL refuses a key that others may read, and runs as another user where the tests run as root.
  const { uid, gid } = await postgresOsUser();
  for (const [from, name] of [
    [cert, CERT],
    [key, KEY],
  ] as const) {
    const path = join(dir, `${name}.new`);
    await copyFile(from, path);
    if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
    await rename(path, join(dir, name));
  }
}
