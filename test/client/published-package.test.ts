import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runToExit, SILENT_SUCCESS } from '../platform/run-to-exit.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'libs/client');

/** Plain JavaScript of a user: a call, a list, an error, and a webhook. Prints what it got. */
const CONSUMER = `
import { createHmac, randomBytes } from 'node:crypto';
import { CreditlaneError, createClient } from '@creditlane/client';
import { verifyWebhook, WebhookVerificationError } from '@creditlane/client/webhooks';

const answers = { recordDecision: 200, listDecisions: 200, getDecision: 404 };
const client = createClient({
  baseUrl: 'https://api.example.com/v1',
  apiKey: 'k',
  async fetch(url, { method }) {
    const body = method === 'POST' ? { decision: 'BOOKED' }
      : url.includes('/decisions') ? { data: [{ decision: 'DRAFT' }], nextCursor: null }
      : { status: 404, code: 'submission_not_found', message: 'No.', requestId: 'x' };
    const headers = { 'content-type': 'application/json' };
    return new Response(JSON.stringify(body), { status: body.status ?? 200, headers });
  },
});
const path = { applicationId: 'a', creditorId: 'c' };
const found = [];
found.push((await client.recordDecision({ path, body: { applicationId: 'a', decision: 'BOOKED' } })).body.decision);
for await (const { decision } of client.listDecisions.each({ path })) found.push(decision);
found.push(await client.getDecision({ path }).catch((error) => error instanceof CreditlaneError && error.code));

const key = randomBytes(32);
const secret = 'whsec_' + key.toString('base64');
const body = '{"status":"BOOKED"}';
const timestamp = String(Math.floor(Date.now() / 1000));
const mac = createHmac('sha256', key).update('1.' + timestamp + '.' + body).digest('base64');
const headers = { 'webhook-id': '1', 'webhook-timestamp': timestamp, 'webhook-signature': 'v1,' + mac };
found.push((await verifyWebhook({ body, headers, secrets: secret })).type);
found.push(await verifyWebhook({ body: JSON.parse(body), headers, secrets: secret })
  .catch((error) => error instanceof WebhookVerificationError && error.reason));
console.log(found.join(' '));
`;

/** TypeScript of a user: what is typed, and what the types refuse. */
const TYPED_CONSUMER = `
import { type Client, type components, createClient } from '@creditlane/client';
import { verifyWebhook, type WebhookEvent } from '@creditlane/client/webhooks';

const client: Client = createClient({ baseUrl: 'https://api.example.com/v1', apiKey: () => 'k' });
const path = { applicationId: 'a', creditorId: 'c' };

export async function use(request: Request): Promise<string | undefined> {
  const { body, status } = await client.recordDecision({
    path,
    body: { applicationId: 'a', decision: 'APPROVED', paymentFrequency: 'BI_WEEKLY' },
  });
  const only200: 200 = status;
  const decision: components['schemas']['Decision'] = body;
  // @ts-expect-error AWAITING_DECISION cannot be written
  await client.recordDecision({ path, body: { applicationId: 'a', decision: 'AWAITING_DECISION' } });
  // @ts-expect-error the path is required
  await client.recordDecision({ body: { applicationId: 'a', decision: 'BOOKED' } });
  // @ts-expect-error a read has no body
  await client.getDecision({ path, body: {} });
  // @ts-expect-error only lists are iterable
  client.getDecision.each({ path });
  // @ts-expect-error there is no such operation
  client.deleteEverything();
  const none: undefined = (await client.revokeKey({ path: { integrationId: 'i', keyId: 'k' } })).body;
  for await (const { recordedAt } of client.listDecisions.each({ path, query: { limit: 5 } })) {
    const text: string = recordedAt;
    void [text, none, only200, decision];
  }
  const event: WebhookEvent = await verifyWebhook({
    body: await request.arrayBuffer(),
    headers: request.headers,
    secrets: ['whsec_'],
  });
  // @ts-expect-error only some events have an interest rate
  event.payload.interestRate;
  if (event.type === 'applicationApproved') return event.payload.interestRate.toFixed(2);
  // @ts-expect-error there is no such event
  return event.type === 'applicationLost' ? undefined : event.id;
}
`;

/** The examples of the README, each with the names that the README leaves to its reader. */
async function readmeExamples(): Promise<Record<string, string>> {
  const page = await readFile(join(PACKAGE, 'README.md'), 'utf8');
  const blocks = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  const given = 'declare const applicationId: string, creditorId: string, secret: string;';
  const client = "declare const client: import('@creditlane/client').Client;";
  const examples = blocks.map((code, index) => [
    `example-${index + 1}.ts`,
    `${code}\n${given}\n${code.includes('const client') ? '' : client}\nexport {};`,
  ]);
  return Object.fromEntries(examples);
}

describe('the client as npm packs it', () => {
  let folder: string;
  let packed: string[];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'creditlane-client-'));
    const pack = ['pack', '--json', '--foreground-scripts=false', '--pack-destination', folder];
    const [{ filename, files }] = JSON.parse((await run('npm', pack, { cwd: PACKAGE })).stdout);
    packed = files.map(({ path }: { path: string }) => path);
    await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
    const install = ['install', '--offline', '--no-audit', '--no-fund', join(folder, filename)];
    await run('npm', install, { cwd: folder });
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('has JavaScript, declarations, licence and README, and no source, test or dependency', async () => {
    expect(packed).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/client/client.js']),
    );
    expect(
      packed.filter(
        (path) => !/^(dist\/.*(\.js|\.d\.ts)|LICENSE|README\.md|package\.json)$/.test(path),
      ),
    ).toEqual([]);
    const manifest = JSON.parse(
      await readFile(join(folder, 'node_modules/@creditlane/client/package.json'), 'utf8'),
    );
    expect(manifest.dependencies).toBeUndefined();
    const targets = Object.values(manifest.exports).flatMap((it) => {
      const { types, default: code } = it as Record<string, string>;
      return [types, code];
    });
    for (const target of targets) expect(packed).toContain(target?.slice('./'.length));
  });

  test('imports nothing but its own files, so that it runs in browsers', async () => {
    const texts = packed
      .filter((path) => path.endsWith('.js'))
      .map((path) => readFile(join(folder, 'node_modules/@creditlane/client', path), 'utf8'));
    const imports = (await Promise.all(texts)).flatMap((text) =>
      [...text.matchAll(/\bfrom\s+'([^']+)'|\bimport\(?\s*'([^']+)'/g)].map(([, a, b]) => a ?? b),
    );
    expect(imports.length).toBeGreaterThan(5);
    expect(imports.filter((name) => !/^\.\.?\/.*\.js$/.test(name ?? ''))).toEqual([]);
  });

  // The Node of the machine may be the oldest one that the package supports.
  test.each([process.execPath, 'node'])(
    'runs in JavaScript outside the repository with %s',
    async (node) => {
      await writeFile(join(folder, 'consumer.js'), CONSUMER);
      const { stdout } = await run(node, ['consumer.js'], { cwd: folder });
      expect(stdout.trim()).toBe(
        'BOOKED DRAFT submission_not_found applicationBooked body_reserialised',
      );
    },
  );

  test.each([
    [process.execPath, "require('@creditlane/client')"],
    ['node', "await import('@creditlane/client')"],
  ])('is loaded by a CommonJS program with %s: %s', async (node, load) => {
    const program = `(async () => console.log(typeof (${load}).createClient))();`;
    await writeFile(join(folder, 'consumer.cjs'), program);
    const { stdout } = await run(node, ['consumer.cjs'], { cwd: folder });
    expect(stdout.trim()).toBe('function');
  });

  test.each([
    ['nodenext', 'nodenext', 'es2022'],
    ['bundler', 'esnext', 'es2022'],
    ['bundler', 'esnext', 'es2020'],
  ])(
    'has declarations with which a program and the README’s examples check under moduleResolution %s, module %s and lib %s without the types of Node',
    async (moduleResolution, module, target) => {
      const sources = { 'consumer.ts': TYPED_CONSUMER, ...(await readmeExamples()) };
      expect(Object.keys(sources)).toHaveLength(4);
      for (const [file, text] of Object.entries(sources)) await writeFile(join(folder, file), text);
      const config = {
        compilerOptions: {
          strict: true,
          exactOptionalPropertyTypes: true,
          noEmit: true,
          skipLibCheck: false,
          target,
          lib: [target, 'dom'],
          types: [],
          module,
          moduleResolution,
        },
        files: Object.keys(sources),
      };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const tsc = join(ROOT, 'node_modules/.bin/tsc');
      expect(await runToExit(tsc, ['--project', 'tsconfig.json'], { cwd: folder })).toEqual(
        SILENT_SUCCESS,
      );
    },
  );
});
