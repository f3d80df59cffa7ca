/** The environment of a pod, with the contents of its Secrets. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secretManifests } from '@creditlane/chart/secret-manifests';
import { composeVariables } from '@creditlane/compose/env-file';
import { SERVICES } from '@creditlane/platform/services';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { expect, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from './helm.ts';

/** The environment of a pod, with its Secrets as files of a folder that is removed after the test. */
export function environmentOf(pod: Manifest['spec'], secrets: ReturnType<typeof secretsFor>) {
  const folder = mkdtempSync(join(tmpdir(), 'creditlane-chart-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const { secret } of pod.volumes[0].projected.sources as { secret: MountedSecret }[]) {
    for (const { key, path } of secret.items) {
      const value = secrets.get(secret.name)?.[key];
      expect(value, `${secret.name} has ${key}`).toBeDefined();
      writeFileSync(join(folder, path), value ?? '');
    }
  }
  const variables: { name: string; value: string }[] = pod.containers[0].env;
  return Object.fromEntries(
    variables.map(({ name, value }) => [name, value.replaceAll('/run/secrets/creditlane', folder)]),
  );
}

interface MountedSecret {
  name: string;
  items: { key: string; path: string }[];
}

/** The contents of the Secrets: those of the installation, and stand-ins for what other tools make. */
export function secretsFor(objects: Manifest[]): Map<string, Record<string, string>> {
  const options = {
    prefix: 'test-creditlane',
    adminDatabaseUrl: 'postgres://admin@db/postgres?sslmode=verify-full',
  };
  const text = secretManifests(SERVICES, composeVariables(SERVICES), options);
  const made = parseAllDocuments(text).map((it) => it.toJS());
  const { cert, key, ca } = new TestCertificateAuthority().issue();
  const [certificate = '', privateKey = '', authority = ''] = [cert, key, ca].map((file) =>
    readFileSync(file, 'utf8'),
  );
  const pems = { 'tls.crt': certificate, 'tls.key': privateKey, 'ca.crt': authority };
  const names = objects
    .flatMap(({ spec }) => spec?.template?.spec.volumes ?? [])
    .flatMap(({ projected }) => projected.sources)
    .map(({ secret }) => secret.name as string);
  const others = names.filter((name) => !made.some(({ metadata }) => metadata.name === name));
  const request = '<a>{{memberCode}}{{password}}{{firstName}}{{lastName}}{{dateOfBirth}}</a>';
  return new Map([
    ...made.map(({ metadata, stringData }) => [metadata.name, stringData] as const),
    ...others.map((name) => [name, { ...pems, 'request.xml': request }] as const),
  ]);
}
