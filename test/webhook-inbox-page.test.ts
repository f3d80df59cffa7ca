// What a developer sees on the page of the webhook inbox, in Chromium without a window.
import { createLog } from '@creditlane/runtime/telemetry/log';
import { startWebhookInbox, type WebhookInbox } from '@creditlane/webhook-inbox/webhook-inbox';
import { type Browser, chromium, type Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findChromium } from './platform/chromium.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const launchOptions = await findChromium();

describe.skipIf(!launchOptions)('the page of the webhook inbox in Chromium', () => {
  let browser: Browser;
  let inbox: WebhookInbox;
  let page: Page;
  /** Errors of the page, and what its policy forbade. */
  let problems: string[];

  beforeAll(async () => {
    browser = await chromium.launch(launchOptions);
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    inbox = await startWebhookInbox({
      port: 0,
      host: '127.0.0.1',
      secrets: () => [SECRET],
      addSecret: () => Promise.reject(new Error('no test adds a secret')),
      log: createLog('inbox-test', { level: 'silent' }),
    });
    page = await browser.newPage();
    problems = [];
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('pageerror', ({ message }) => problems.push(message));
    await page.goto(inbox.url);
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
  });
  afterEach(async () => {
    await page.close();
    await inbox.close();
    expect(problems).toEqual([]);
  });

  /** Posts a webhook with a signature of Standard Webhooks, and gives the status of the answer. */
  async function deliver(path: string, body: string): Promise<number> {
    const at = new Date();
    const headers = {
      'webhook-id': path,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(SECRET).sign(path, at, body),
    };
    const init = { method: 'POST', headers, body, redirect: 'manual' } as const;
    return (await fetch(`${inbox.url}${path}`, init)).status;
  }

  test('webhooks appear as they arrive, the newest first, with the verdict on each signature', async () => {
    await page.getByText('Nothing has arrived yet').waitFor();
    await deliver('/application-approved', '{"status":"APPROVED"}');
    await page.getByText('applicationApproved').waitFor();
    await deliver('/application-booked', '{"status":"BOOKED"}');
    await page.getByText('applicationBooked').waitFor();
    expect(await page.getByText('Nothing has arrived yet').isVisible()).toBe(false);
    const cards = page.getByRole('article');
    expect(await cards.locator('strong').allTextContents()).toEqual([
      'applicationBooked',
      'applicationApproved',
    ]);
    expect(await cards.first().locator('.verdicts span').allTextContents()).toEqual([
      '– HMAC missing',
      '✓ Standard Webhooks valid',
    ]);
  });

  test('an opened webhook shows its body and headers', async () => {
    await deliver('/application-approved', '{"status":"APPROVED"}');
    const card = page.getByRole('article');
    await card.getByText('applicationApproved').click();
    const [body, headers] = await card.locator('pre').allInnerTexts();
    expect(body).toBe('{\n  "status": "APPROVED"\n}');
    expect(headers).toMatch(/^POST \/application-approved\n/);
    expect(headers).toContain('webhook-id: /application-approved');
  });

  test('markup and scripts in a webhook are shown as text', async () => {
    const body =
      '<img src=x onerror="document.title=\'run\'"><script>document.title="run"</script>';
    await deliver('/<b>bold<b>', body);
    const card = page.getByRole('article');
    await card.locator('summary').click();
    expect(await card.locator('pre').first().textContent()).toBe(body);
    expect(await card.locator('img, script, b').count()).toBe(0);
    expect(await page.title()).toBe('Webhook inbox · Creditlane');
  });

  test('the page changes the answer of the inbox, and counts what it refuses', async () => {
    const answered = page.waitForResponse(`${inbox.url}/behaviour`);
    await page.getByLabel('Answer deliveries with').selectOption('fail');
    await answered;
    expect(await deliver('/application-approved', '{}')).toBe(500);
    await page.getByText('1 refused').waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
  });

  test('another window follows when the inbox is emptied', async () => {
    await deliver('/application-approved', '{}');
    const other = await browser.newPage();
    await other.goto(inbox.url);
    await other.getByText('applicationApproved').waitFor();
    await page.getByRole('button', { name: 'Empty' }).click();
    await other.getByText('Nothing has arrived yet').waitFor();
    expect(await other.getByRole('article').count()).toBe(0);
    await other.close();
  });
});
