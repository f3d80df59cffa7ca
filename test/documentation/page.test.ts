// What a newcomer finds on the documentation page, in Chromium without a window.
import { examplesOf, type MediaType } from '@creditlane/gateway/document/examples';
import {
  type DescribedOperation,
  type JsonValue,
  type OpenApiDocument,
  openApiDocument,
  operationsIn,
  resolveReference,
} from '@creditlane/gateway/document/openapi-document';
import { startTestGateway } from '@creditlane/gateway/test-gateway';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium } from '../platform/chromium.ts';
import { chooseLanguage, readAnswer, readFirstBlocks, showEverySection } from './in-page.mjs';

const document = openApiDocument();
const operations = operationsIn(document.paths).map(({ operation }) => operation);
const webhooks = operationsIn(document.webhooks).map(({ operation }) => operation);
const launchOptions = await findChromium();
/** While twenty other processes shared two cores, the longest of the tests took 60 s. */
const WALK_TIMEOUT_MS = 180_000;

/** The JSON of an example as the page shows it. */
const shown = (value: JsonValue) => JSON.stringify(value, null, 2);

interface ShownAnswer {
  operationId: string;
  status: string;
  first: string;
  /** As the page lists them, where there are several. */
  names: string[];
}

/** The answers of all operations; one of those with the same examples. */
function distinctAnswers(): ShownAnswer[] {
  const answers = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, response]): ShownAnswer[] => {
      const { content } = resolveReference(document, response) as { content?: Content };
      const media = content?.['application/json'];
      const examples = examplesOf(document, media);
      const [first] = examples;
      if (first === undefined) return [];
      const names = examples.map(({ name }) => {
        const example = media?.examples?.[name];
        return (example && resolveReference(document, example).summary) ?? name;
      });
      return [
        {
          operationId,
          status,
          first: shown(first.value),
          names: examples.length > 1 ? names : [],
        },
      ];
    }),
  );
  const byContent = new Map(answers.map((it) => [it.first + it.names.join(), it]));
  return [...byContent.values()];
}
type Content = Record<string, MediaType>;

/** The published code samples: by label, such as "Python", those of the operations that have one. */
function samplesByLabel({ paths }: OpenApiDocument): Map<string, Map<string, string>> {
  const samples = new Map<string, Map<string, string>>();
  for (const { operation } of operationsIn(paths)) {
    const { operationId, 'x-codeSamples': all = [] } = operation as PublishedOperation;
    for (const { label, source } of all) {
      const ofLabel = samples.get(label) ?? new Map();
      samples.set(label, ofLabel.set(operationId, source));
    }
  }
  return samples;
}

/** The labels of the samples that an operation has. */
function labelsOf(operationId: string, byLabel: Map<string, Map<string, string>>): string[] {
  return [...byLabel.keys()].filter((label) => byLabel.get(label)?.has(operationId));
}

type PublishedOperation = DescribedOperation & {
  'x-codeSamples'?: { label: string; source: string }[];
};

const options = { timeout: WALK_TIMEOUT_MS };
describe.skipIf(!launchOptions)('the documentation page in Chromium', options, () => {
  let gateway: Awaited<ReturnType<typeof startTestGateway>>;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let published: OpenApiDocument;
  const problems: string[] = [];
  const otherHosts: string[] = [];

  beforeAll(async () => {
    gateway = await startTestGateway();
    published = (await gateway.send('GET', '/v1/openapi.json')).json;
    browser = await chromium.launch(launchOptions);
    context = await browser.newContext({ viewport: { width: 1400, height: 4000 } });
    page = await context.newPage();
    page.setDefaultTimeout(WALK_TIMEOUT_MS);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:' && origin !== gateway.url) otherHosts.push(request.url());
    });
    await page.exposeFunction('reportViolation', (what: string) => problems.push(what));
    await page.addInitScript(`document.addEventListener('securitypolicyviolation', (event) => {
      reportViolation(event.violatedDirective + ' forbids ' + event.blockedURI);
    })`);
    await page.goto(`${gateway.url}/docs`);
    await page.getByRole('heading', { name: 'Creditlane', exact: true }).waitFor();
  }, WALK_TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
  });

  test('a search finds an operation and leads to it', async () => {
    await page.getByRole('button', { name: 'Open Search' }).click();
    await page.keyboard.type('income');
    await page.getByRole('option', { name: 'Set the income status' }).click();
    await page.getByRole('heading', { name: 'Set the income status' }).waitFor();
    expect(new URL(page.url()).hash).toBe('#tag/decisions/setIncomeStatus');
  });

  test('a request sent from the page is answered, and its key is gone after a reload', async () => {
    const { key, port } = gateway;
    await page.goto(`${gateway.url}/docs#tag/directory/listRetailers`);
    const section = page.locator('section[id$="/listRetailers"]');
    await section.getByRole('button', { name: 'Test Request' }).click();
    const client = page.getByRole('dialog');
    await client.getByPlaceholder('Token').fill(key);
    const answered = page.waitForResponse(`http://127.0.0.1:${port}/v1/retailers*`);
    await client.getByRole('button', { name: 'Send' }).first().click();
    expect((await answered).status()).toBe(200);
    await client.getByText('Harbour Motors').first().waitFor();

    await page.reload();
    await section.waitFor();
    const stored = await context.storageState({ indexedDB: true });
    const ofSession = await page.evaluate('JSON.stringify({ ...sessionStorage })');
    expect(JSON.stringify(stored) + ofSession).not.toContain(key);
    expect(await page.getByPlaceholder('Token').first().inputValue()).toBe('');
    expect(await page.content()).not.toContain(key);
  });

  test('every operation and webhook is there, with every example and code sample', async () => {
    const ids = await page.evaluate(showEverySection, operations.length + webhooks.length);
    const sectionOf = (name: string) => ids.find((id: string) => id.endsWith(`/${name}`)) ?? '';
    const names = [
      ...operations.map(({ operationId }) => operationId),
      ...webhooks.map(({ operationId }) => operationId.toLowerCase()),
    ];
    expect(names.filter((name) => sectionOf(name) === '')).toEqual([]);

    const blocks = new Map(await page.evaluate(readFirstBlocks, ids));
    for (const { operationId, requestBody } of webhooks) {
      const example = requestBody?.content['application/json']?.example ?? null;
      expect(blocks.get(sectionOf(operationId.toLowerCase())), operationId).toBe(shown(example));
    }
    const byLabel = samplesByLabel(published);
    for (const label of ['curl', 'TypeScript', 'Python']) {
      // curl is chosen already, and each choice changes all sections, which takes a second.
      const choice = { id: sectionOf('recordDecision'), label };
      const labels = label === 'curl' ? undefined : await page.evaluate(chooseLanguage, choice);
      if (labels) expect(labels).toEqual(labelsOf('recordDecision', byLabel));
      const samples = byLabel.get(label) ?? new Map<string, string>();
      const read = await page.evaluate(readFirstBlocks, [...samples.keys()].map(sectionOf));
      expect(read.map(([, text]: string[]) => text)).toEqual([...samples.values()]);
    }
    for (const { status, operationId, ...examples } of distinctAnswers()) {
      const answer = { id: sectionOf(operationId), status };
      const read = await page.evaluate(readAnswer, answer);
      expect(read, `${operationId} ${status}`).toEqual(examples);
    }
  });

  test('nothing was requested of another host, and the console has no error', () => {
    expect({ problems, otherHosts }).toEqual({ problems: [], otherHosts: [] });
  });
});
