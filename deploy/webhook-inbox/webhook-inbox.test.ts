import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReceivedWebhook } from './received-webhooks.ts';
import type { Verdicts } from './signatures.ts';
import { startWebhookInbox, type WebhookInbox } from './webhook-inbox.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const BODY = '{"status":"APPROVED","conditions":"Beleg – geprüft"}';
const secrets: string[] = [];
const OPTIONS = {
  port: 0,
  host: '127.0.0.1',
  secrets: () => secrets,
  addSecret: async (secret: string) => void secrets.push(secret),
  log: createLog('inbox-test', { level: 'silent' }),
};

let inbox: WebhookInbox;
beforeEach(async () => {
  secrets.splice(0, Infinity, SECRET);
  inbox = await startWebhookInbox(OPTIONS);
});
afterEach(() => inbox.close());

/** Posts a webhook and gives the status of the answer. */
async function deliver(path: string, headers: Record<string, string> = {}, body = BODY) {
  const init = { method: 'POST', headers, body, redirect: 'manual' } as const;
  return (await fetch(`${inbox.url}${path}`, init)).status;
}

async function arrivals() {
  const answer = await fetch(inbox.url, { headers: { accept: 'application/json' } });
  return (await answer.json()) as (ReceivedWebhook & { signatures: Verdicts })[];
}

async function behaviour() {
  const answer = await fetch(`${inbox.url}/behaviour`);
  return (await answer.json()) as { mode: string; refused: number };
}

async function behave(body: unknown) {
  return fetch(`${inbox.url}/behaviour`, { method: 'PUT', body: JSON.stringify(body) });
}

/** The headers of a signed delivery, by the public library and by a bare HMAC. */
function signed(secret = SECRET, at = new Date(), name = 'X-SERVICE-SIGNATURE') {
  const id = randomUUID();
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, BODY),
    [name]: createHmac('sha256', key).update(BODY).digest('hex'),
  };
}

describe('a received webhook', () => {
  test('is stored as received, oldest first, with header names in lower case', async () => {
    const before = Date.now();
    expect(await deliver('/application-approved?a=1', { 'X-Custom': 'Yes' })).toBe(204);
    expect(await deliver('/deep/application-booked', {}, 'not json')).toBe(204);
    const kept = await arrivals();
    const length = String(Buffer.byteLength(BODY));
    expect(kept).toMatchObject([
      {
        path: '/application-approved?a=1',
        headers: { 'x-custom': 'Yes', 'content-length': length },
        body: BODY,
      },
      { path: '/deep/application-booked', body: 'not json' },
    ]);
    expect(Date.parse(kept[0]?.receivedAt ?? '')).toBeGreaterThanOrEqual(before);
  });

  test('is deleted when the inbox is emptied', async () => {
    await deliver('/awaiting-decision');
    expect((await fetch(inbox.url, { method: 'DELETE' })).status).toBe(204);
    expect(await arrivals()).toEqual([]);
  });

  test('is stored until a thousand later ones have arrived', async () => {
    for (let n = 0; n < 1_003; n += 1) await deliver('/n', {}, String(n));
    const kept = await arrivals();
    expect(kept).toHaveLength(1_000);
    expect(kept[0]?.body).toBe('3');
    expect(kept.at(-1)?.body).toBe('1002');
  });

  test('may have a body of 1 MiB; a larger one is refused with 413', async () => {
    const most = 'x'.repeat(1024 * 1024);
    expect(await deliver('/large', {}, most)).toBe(204);
    expect(await deliver('/larger', {}, `${most}x`)).toBe(413);
    expect(await arrivals()).toHaveLength(1);
  });

  describe('in the data file', () => {
    let folder: string;
    let dataFile: string;
    const reopen = async () => {
      await inbox.close();
      inbox = await startWebhookInbox({ ...OPTIONS, dataFile });
    };
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'creditlane-inbox-'));
      dataFile = join(folder, 'inbox.jsonl');
      await reopen();
    });
    afterEach(() => rm(folder, { recursive: true }));

    test('is kept over a restart, also after a write that a full disk cut off', async () => {
      await deliver('/one');
      await appendFile(dataFile, '\n{"receivedAt":"2026-');
      await deliver('/two');
      const kept = await arrivals();
      expect(kept).toHaveLength(2);
      await reopen();
      expect(await arrivals()).toEqual(kept);
      await fetch(inbox.url, { method: 'DELETE' });
      expect(await readFile(dataFile, 'utf8')).toBe('');
    });

    test('with a large body displaces old ones, in the file, too, which is at most twice as large', async () => {
      const mebibyte = 1024 * 1024;
      let most = 0;
      for (let n = 0; n < 70; n += 1) {
        await deliver('/large', {}, 'x'.repeat(mebibyte));
        most = Math.max(most, (await stat(dataFile)).size);
      }
      expect(Math.round(most / mebibyte)).toBe(64);
      const kept = await arrivals();
      expect(kept).toHaveLength(32);
      await reopen();
      expect(await arrivals()).toEqual(kept);
    });
  });
});

describe('the signatures', () => {
  const verdicts = async () => (await arrivals()).at(-1)?.signatures;

  test('of the public library and of a bare HMAC are valid', async () => {
    await deliver('/application-approved', signed());
    expect(await verdicts()).toEqual({ service: 'valid', standard: 'valid' });
    await deliver('/integration-enabled', signed(SECRET, new Date(), 'X-INTEGRATION-SIGNATURE'));
    expect(await verdicts()).toEqual({ service: 'valid', standard: 'valid' });
  });

  test('of a secret in rotation is valid beside that of the new one', async () => {
    const headers = signed();
    const old = new Webhook(`whsec_${randomBytes(32).toString('base64')}`);
    const other = old.sign(headers['webhook-id'], new Date(), BODY);
    const both = `${other} ${headers['webhook-signature']}`;
    await deliver('/application-approved', { ...headers, 'webhook-signature': both });
    expect(await verdicts()).toEqual({ service: 'valid', standard: 'valid' });
  });

  test('of a rotated secret are valid once the inbox has the answer to the rotation', async () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    await deliver('/application-approved', signed(secret));
    expect(await verdicts()).toEqual({ service: 'invalid', standard: 'invalid' });
    const body = JSON.stringify({ secret, overlapEndsAt: new Date() });
    const added = await fetch(`${inbox.url}/secret`, { method: 'PUT', body });
    expect(added.status).toBe(204);
    expect(await verdicts()).toEqual({ service: 'valid', standard: 'valid' });
    await deliver('/application-approved', signed());
    expect(await verdicts()).toEqual({ service: 'valid', standard: 'valid' });
  });

  test.each([
    '',
    '{}',
    'null',
    '{"secret":7}',
    '{"secret":"whsec_c2hvcnQ="}',
    JSON.stringify({ secret: [SECRET.replace(/.=$/, 'A=')] }),
  ])('are checked with the same secrets after a refused new one: %s', async (body) => {
    expect((await fetch(`${inbox.url}/secret`, { method: 'PUT', body })).status).toBe(400);
    expect(secrets).toEqual([SECRET]);
  });

  test('of another secret or another body are invalid', async () => {
    await deliver('/application-approved', signed(`whsec_${randomBytes(32).toString('base64')}`));
    expect(await verdicts()).toEqual({ service: 'invalid', standard: 'invalid' });
    await deliver('/application-approved', signed(), `${BODY} `);
    expect(await verdicts()).toEqual({ service: 'invalid', standard: 'invalid' });
  });

  test('of ten minutes ago are stale, since that may be a replay', async () => {
    await deliver('/application-approved', signed(SECRET, new Date(Date.now() - 600_000)));
    expect(await verdicts()).toEqual({ service: 'valid', standard: 'stale' });
  });

  test('are missing where there are none', async () => {
    await deliver('/application-approved');
    expect(await verdicts()).toEqual({ service: 'missing', standard: 'missing' });
  });
});

describe('the behaviour', () => {
  test.each([
    ['fail', 500],
    ['redirect', 302],
  ])(
    'mode %s answers %i and keeps nothing, until the mode is set to accept',
    async (mode, status) => {
      expect((await behave({ mode })).status).toBe(200);
      expect(await deliver('/application-booked')).toBe(status);
      expect(await arrivals()).toEqual([]);
      expect(await behaviour()).toEqual({ mode, refused: 1 });
      await behave({ mode: 'accept' });
      expect(await deliver('/application-booked')).toBe(204);
    },
  );

  test('hang answers nothing; setting a mode closes the waiting connections', async () => {
    await behave({ mode: 'hang' });
    const waiting = expect(deliver('/application-booked')).rejects.toThrow('fetch failed');
    await expect.poll(behaviour).toEqual({ mode: 'hang', refused: 1 });
    await behave({ mode: 'accept' });
    await waiting;
    expect(await arrivals()).toEqual([]);
  });

  test('of an unknown name is refused, and nothing changes', async () => {
    for (const body of [{ mode: 'explode' }, {}, null, 'fail']) {
      const answer = await behave(body);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('accept, fail, hang, redirect');
    }
    expect(await deliver('/application-booked')).toBe(204);
  });
});

describe('the page', () => {
  test('may load its own script and style and nothing else', async () => {
    const answer = await fetch(inbox.url, { headers: { accept: 'text/html,*/*;q=0.8' } });
    const policy = answer.headers.get('content-security-policy') ?? '';
    const html = await answer.text();
    for (const element of ['script', 'style']) {
      const content = html.split(`<${element}>`)[1]?.split(`</${element}>`)[0] ?? '';
      const digest = createHash('sha256').update(content).digest('base64');
      expect(policy).toContain(`${element}-src 'sha256-${digest}'`);
    }
    expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(html).not.toMatch(/https?:\/\/|innerHTML|insertAdjacentHTML|document\.write| on\w+="/);
  });

  test('gets the stored webhooks and then each change', async () => {
    await deliver('/awaiting-decision', signed());
    const events = await watch();
    expect(await events.next()).toEqual({ event: 'emptied', data: {} });
    expect(await events.next()).toMatchObject({ event: 'behaviour', data: { mode: 'accept' } });
    expect(await events.next()).toMatchObject({
      event: 'arrival',
      data: { path: '/awaiting-decision', body: BODY, signatures: { standard: 'valid' } },
    });
    await deliver('/application-booked', {}, '<script>alert(1)</script>\n\nevent: emptied');
    expect(await events.next()).toMatchObject({
      event: 'arrival',
      data: { body: '<script>alert(1)</script>\n\nevent: emptied' },
    });
    await behave({ mode: 'fail' });
    expect(await events.next()).toMatchObject({ event: 'behaviour', data: { mode: 'fail' } });
    await fetch(inbox.url, { method: 'DELETE' });
    expect(await events.next()).toEqual({ event: 'emptied', data: {} });
  });

  test('does not prevent the inbox from closing', async () => {
    await watch();
    await behave({ mode: 'hang' });
    const waiting = expect(deliver('/application-booked')).rejects.toThrow('fetch failed');
    await expect.poll(behaviour).toEqual({ mode: 'hang', refused: 1 });
    await inbox.close();
    await waiting;
    inbox = await startWebhookInbox(OPTIONS);
  });
});

test('unknown paths and methods are refused with a reason', async () => {
  const unknown = await fetch(`${inbox.url}/nowhere`);
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toMatchObject({ status: 404 });
  const wrong = await fetch(`${inbox.url}/behaviour`, { method: 'DELETE' });
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST, GET, PUT']);
});

test('a page of another site neither reads nor changes the inbox', async () => {
  await deliver('/application-approved');
  const requests = [
    ['GET', '/'],
    ['GET', '/events'],
    ['GET', '/behaviour'],
    ['DELETE', '/'],
    ['PUT', '/behaviour', '{"mode":"fail"}'],
    ['PUT', '/secret', `{"secret":"whsec_${randomBytes(32).toString('base64')}"}`],
    ['POST', '/application-booked', BODY],
  ] as const;
  const headers = { origin: 'https://evil.example' };
  for (const [method, path, body = null] of requests) {
    const answer = await fetch(`${inbox.url}${path}`, { method, headers, body });
    expect([method, path, answer.status]).toEqual([method, path, 403]);
    expect(await answer.text()).not.toContain('Beleg');
  }
  expect(await arrivals()).toMatchObject([{ path: '/application-approved' }]);
  expect(await behaviour()).toMatchObject({ mode: 'accept' });
  expect(secrets).toEqual([SECRET]);
});

test('the start rejects when the port is in use', async () => {
  const port = Number(new URL(inbox.url).port);
  await expect(startWebhookInbox({ ...OPTIONS, port })).rejects.toThrow('EADDRINUSE');
});

/** Reads the live updates as the page does; each `next` waits for one event. */
async function watch() {
  const { body } = await fetch(`${inbox.url}/events`);
  const chunks = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    async next(): Promise<{ event: string; data: unknown }> {
      for (;;) {
        const [block = '', ...rest] = text.split('\n\n');
        if (rest.length > 0) {
          text = rest.join('\n\n');
          const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
          if (event !== '') return { event, data: JSON.parse(data) };
          continue;
        }
        const { done, value } = (await chunks?.read()) ?? { done: true, value: undefined };
        if (done) throw new Error('the inbox ended the events');
        text += value;
      }
    },
  };
}

test('a webhook that does not arrive in time is cut, and the inbox logs no failure', async () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const late = await startWebhookInbox({
    ...OPTIONS,
    timeouts: { headMs: 100, requestMs: 200, unreadMs: 100 },
    log: createLog('inbox-test', { destination: { write } }),
  });
  const { port, host } = new URL(late.url);
  const head = `POST / HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const text of [head, `${head}content-length: 9\r\n\r\n{`]) {
    const client = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    client.resume().write(text);
    await once(client, 'close');
  }
  await late.close();
  expect(lines).toEqual([]);
});
