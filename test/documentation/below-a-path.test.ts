// A proxy may serve the platform below a path of its own, which it takes off each request.
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestGateway } from '@creditlane/gateway/test-gateway';
import { PullState } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { chromium } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { findChromium } from '../platform/chromium.ts';

const PATH = '/creditlane';
/** While others shared two cores, it took 102 s; in CI it takes 11. */
const TIMEOUT_MS = 180_000;
const FILE_ID = '0198c0de-0000-7000-8000-000000004001';
const launchOptions = await findChromium();

/** Starts a proxy that serves the gateway below the path, and nothing beside it. */
async function startBelowPath() {
  let port = 0;
  const proxy = createServer((req, res) => {
    if (!req.url?.startsWith(`${PATH}/`)) return void res.writeHead(404).end();
    const { method, headers } = req;
    const path = req.url.slice(PATH.length);
    const forwarded = httpRequest({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    forwarded.on('error', () => res.destroy());
    req.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  const publicUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PATH}`;
  const gateway = await startTestGateway({ publicUrl });
  onTestFinished(() => gateway.close());
  port = gateway.port;
  return { publicUrl, gateway };
}

test('below a path of a proxy, each address of an answer leads back through the proxy', async () => {
  const { publicUrl, gateway } = await startBelowPath();
  const { application, applicant } = gateway.ids;
  const call = (url: string | URL, body?: object) =>
    fetch(url, {
      redirect: 'manual',
      headers: { authorization: gateway.key, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
  const creditFile = `${publicUrl}/v1/applications/${application}/credit-file/${applicant}`;

  const requested = await call(`${creditFile}/request`, { source: 'EQUIFAX' });
  const location = new URL(requested.headers.get('location') ?? '', requested.url);
  expect([requested.status, location.href]).toEqual([202, creditFile]);
  const pull = { ...gateway.services.creditFiles.get(applicant)?.pull, state: PullState.COMPLETE };
  gateway.services.creditFiles.set(applicant, { pull, file: { id: FILE_ID, hitType: 'HIT' } });
  const read = await call(location);
  const { signedPdfUrl } = (await read.json()) as { signedPdfUrl: string };
  const opened = await call(signedPdfUrl);
  expect([opened.status, opened.headers.get('content-type')]).toEqual([200, 'application/pdf']);

  const unknown = await call(`${publicUrl}/v2/applications`);
  expect([unknown.status, await unknown.json()]).toMatchObject([
    404,
    {
      message: `no operation has this path; all begin with ${PATH}/v1, and ${PATH}/docs lists them`,
    },
  ]);
  const root = await call(`${publicUrl}/`);
  expect(new URL(root.headers.get('location') ?? '', root.url).href).toBe(`${publicUrl}/docs`);
});

test.skipIf(!launchOptions)(
  'below a path of a proxy, the documentation page is shown, and requests sent from it are answered',
  { timeout: TIMEOUT_MS },
  async () => {
    const { publicUrl, gateway } = await startBelowPath();
    const browser = await chromium.launch(launchOptions);
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    const failed: string[] = [];
    page.on('response', (answer) => {
      if (answer.status() >= 400) failed.push(answer.url());
    });

    await page.goto(`${publicUrl}/`);
    expect(page.url()).toBe(`${publicUrl}/docs`);
    const link = page.getByRole('link', { name: '/v1/openapi.json' });
    const address = await link.evaluate((it) => (it as unknown as { href: string }).href);
    const { servers } = (await (await fetch(address)).json()) as { servers: unknown };
    expect(servers).toEqual([{ url: `${PATH}/v1`, description: 'This server' }]);

    await page.goto(`${publicUrl}/docs#tag/directory/listRetailers`);
    const section = page.locator('section[id$="/listRetailers"]');
    await section.getByRole('button', { name: 'Test Request' }).click();
    const client = page.getByRole('dialog');
    await client.getByPlaceholder('Token').fill(gateway.key);
    const answered = page.waitForResponse(`${publicUrl}/v1/retailers*`);
    await client.getByRole('button', { name: 'Send' }).first().click();
    expect((await answered).status()).toBe(200);
    expect(failed).toEqual([]);
  },
);
