import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { composeVariables } from '@creditlane/local/compose-variables';
import { makeSecrets } from '@creditlane/platform/secrets';
import { DATABASES } from '@creditlane/platform/services';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface ComposeService {
  image: string;
  command?: string[];
  environment: Record<string, string>;
  read_only?: boolean;
  healthcheck?: object;
}

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '..');
const SERVICES = readdirSync(join(ROOT, 'services'));
const text = readFileSync(join(ROOT, 'deploy/compose.yaml'), 'utf8');
const compose: { services: Record<string, ComposeService> } = parse(text, { merge: true });
const variables = composeVariables(makeSecrets());

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

test.each(SERVICES)(
  'compose runs %s from the one image, closed up, with a configuration that it accepts',
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

test('compose makes the topics before anybody needs them', async () => {
  const [program = ''] = compose.services.topics?.command ?? [];
  const { stdout } = await check(program, environmentOf('topics'));
  expect(stdout).toBe('configuration ok\n');
});

test('compose gives each service that keeps data a database of its own', () => {
  const script = readFileSync(join(ROOT, 'deploy/compose-databases.sh'), 'utf8');
  const known = environmentOf('postgres');
  for (const [service, name] of Object.entries(DATABASES)) {
    const { username, password, pathname } = new URL(environmentOf(service).DATABASE_URL ?? '');
    expect({ username, pathname }).toEqual({ username: name, pathname: `/${name}` });
    const [, variable = ''] = new RegExp(`prepare ${name} "\\$(\\w+)"`).exec(script) ?? [];
    expect(known[variable]).toBe(password);
  }
});

test('compose calls each service where it listens', () => {
  for (const name of SERVICES) {
    for (const [variable, address] of Object.entries(environmentOf(name))) {
      if (!variable.endsWith('_ADDRESS')) continue;
      const [host = '', port] = address.split(':');
      expect(SERVICES).toContain(host);
      expect(port).toBe('9000');
    }
  }
});
