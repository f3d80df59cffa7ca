import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { composeFile } from '@creditlane/compose/compose-file';
import { composeVariables } from '@creditlane/compose/env-file';
import { DATABASES, SERVICES } from '@creditlane/platform/services';
import { settingsPage } from '@creditlane/platform/settings-page';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface ComposeService {
  image: string;
  command?: string[];
  environment: Record<string, string>;
  read_only?: boolean;
  healthcheck?: object;
  depends_on?: Record<string, { condition: string }>;
}

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '..');
const NAMES = SERVICES.map(({ name }) => name);
const text = readFileSync(join(ROOT, 'deploy/compose.yaml'), 'utf8');
const compose: { services: Record<string, ComposeService> } = parse(text, { merge: true });
const variables = composeVariables(SERVICES);

/** A service's environment as compose gives it, with the variables filled in. */
function environmentOf(service: string): Record<string, string> {
  const { environment = {} } = compose.services[service] ?? {};
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, filledIn(value)]),
  );
}

function filledIn(text: string): string {
  return text.replaceAll(/\$\{(\w+)(:\?[^}]*)?\}/g, (_, name) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`npm run secrets makes no ${name}`);
    return value;
  });
}

function check(program: string, env: Record<string, string>) {
  return run(process.execPath, [join(ROOT, program), '--check'], { env });
}

test.each(NAMES)(
  'compose runs %s from the one image, read-only, with a configuration that the service accepts',
  async (name) => {
    const program = `services/${name}/main.ts`;
    expect(compose.services[name]).toMatchObject({
      image: 'creditlane',
      command: [program],
      read_only: true,
      healthcheck: { test: expect.anything() },
    });
    const { stdout } = await check(program, environmentOf(name));
    expect(stdout).toBe('configuration ok\n');
  },
);

test('compose runs a program that creates the topics, with a configuration that it accepts', async () => {
  const [program = ''] = compose.services.topics?.command ?? [];
  const { stdout } = await check(program, environmentOf('topics'));
  expect(stdout).toBe('configuration ok\n');
});

test('compose creates the databases before the services that own them start', async () => {
  const [program = ''] = compose.services.databases?.command ?? [];
  const { stdout } = await check(program, environmentOf('databases'));
  expect(stdout).toBe('configuration ok\n');
  for (const name of Object.keys(DATABASES)) {
    const { databases } = compose.services[name]?.depends_on ?? {};
    expect(databases).toEqual({ condition: 'service_completed_successfully' });
  }
});

test('compose gives each service that has a database one of its own', () => {
  const made = (environmentOf('databases').DATABASES ?? '').split(', ');
  expect(made).toHaveLength(Object.keys(DATABASES).length);
  for (const [service, name] of Object.entries(DATABASES)) {
    const { username, password, pathname } = new URL(environmentOf(service).DATABASE_URL ?? '');
    expect({ username, pathname }).toEqual({ username: name, pathname: `/${name}` });
    expect(made).toContain(`${name}:${password}`);
  }
});

test('every address in the environment of a service is the gRPC port of a service', () => {
  for (const name of NAMES) {
    for (const [variable, address] of Object.entries(environmentOf(name))) {
      if (!variable.endsWith('_ADDRESS')) continue;
      const [host = '', port] = address.split(':');
      expect(NAMES).toContain(host);
      expect(port).toBe('9000');
    }
  }
});

test('compose.yaml and docs/settings.md are up to date with the manifests', () => {
  const page = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8');
  const advice = 'run npm run generate';
  expect(text, advice).toBe(composeFile(SERVICES));
  expect(page, advice).toBe(settingsPage(SERVICES));
});

test('the list of services has every folder of services/', () => {
  expect(readdirSync(join(ROOT, 'services')).toSorted()).toEqual(NAMES.toSorted());
});
