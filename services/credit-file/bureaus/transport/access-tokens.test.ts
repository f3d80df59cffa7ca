import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  answer,
  bytes,
  bytesThen,
  FILE,
  inquiryOf,
  openTestClient,
  type Script,
  startScriptedBureau,
  wordOf,
} from './test-scripted-bureau.ts';

const REJECTED = answer('', 401, ['www-authenticate: Bearer realm="x", error="invalid_token"']);

function tokenJson(token: string, seconds: number | string = 3_600): string {
  return JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: seconds });
}

function tokenAnswer(token: string, seconds?: number | string): Script {
  return answer(tokenJson(token, seconds));
}

/** A whole answer with status 200 whose body is compressed. */
function gzipAnswer(body: string): Script {
  return answer(gzipSync(body), 200, ['content-encoding: gzip']);
}

async function openOAuth(token: Script[], inquiry: Script[] = [answer(FILE)]) {
  const bureau = await startScriptedBureau({ token, inquiry });
  const clock = { nowMs: 0 };
  const nowMs = () => clock.nowMs;
  const { client } = openTestClient({ nowMs });
  const inquire = async (clientSecret = 'c2VjcmV0') => {
    const outcome = await client.inquire(inquiryOf('a-pull', nowMs), {
      baseUrl: bureau.url,
      clientSecret,
    });
    return wordOf(outcome);
  };
  /** The tokens of the inquiries. */
  const tokens = () => bureau.inquiries.map((text) => /bearer (\S+)/i.exec(text)?.[1]);
  return { bureau, clock, inquire, tokens };
}

test('a token is asked for once, and again a tenth of its life before it ends', async () => {
  const { bureau, clock, inquire, tokens } = await openOAuth([
    tokenAnswer('T1'),
    tokenAnswer('T2'),
  ]);
  await inquire();
  clock.nowMs = 3_600_000 * 0.9 - 1;
  await inquire();
  clock.nowMs += 2;
  await inquire();
  expect(tokens()).toEqual(['T1', 'T1', 'T2']);
  expect(bureau.tokenRequests).toHaveLength(2);
});

test('a token that ends within a minute or at an unknown time is used once', async () => {
  const short = [tokenAnswer('T1', 60), tokenAnswer('T2', 'soon'), tokenAnswer('T3', '3600')];
  const { inquire, tokens } = await openOAuth(short);
  for (let count = 0; count < 4; count += 1) await inquire();
  expect(tokens()).toEqual(['T1', 'T2', 'T3', 'T3']);
});

test('a token in a compressed answer is used', async () => {
  const { inquire, tokens } = await openOAuth([gzipAnswer(tokenJson('T1'))]);
  expect(await inquire()).toBe('file');
  expect(tokens()).toEqual(['T1']);
});

test('inquiries at the same time share one token request, and other credentials have their own', async () => {
  const { bureau, inquire } = await openOAuth([tokenAnswer('T1')]);
  await Promise.all([inquire(), inquire(), inquire(), inquire('b3RoZXI=')]);
  expect(bureau.inquiries).toHaveLength(4);
  expect(bureau.tokenRequests).toHaveLength(2);
});

test.each([
  ['status 401', answer('', 401), 'token_refused'],
  ['status 400', answer('{"error":"invalid_client"}', 400), 'token_refused'],
  ['status 500', answer('', 500), 'token_failed'],
  ['a redirect', answer('', 307, ['location: /inquiry']), 'token_failed'],
  ['no JSON', answer('<html/>'), 'token_failed'],
  ['no token', answer('{}'), 'token_failed'],
  ['a token that is no header value', tokenAnswer('a\r\nb'), 'token_failed'],
  ['a lost connection', bytesThen('', 'reset'), 'token_failed'],
  [
    'an answer that is too large',
    bytes(`HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n${'x'.repeat(70_000)}`),
    'token_failed',
  ],
  [
    'an answer that is too large once it is decoded',
    gzipAnswer(`${tokenJson('T1')}${' '.repeat(70_000)}`),
    'token_failed',
  ],
  [
    'an unknown content encoding',
    answer(tokenJson('T1'), 200, ['content-encoding: br']),
    'token_failed',
  ],
])('a token request with %s → no inquiry', async (_, script, reason) => {
  const { bureau, inquire } = await openOAuth([script]);
  expect(await inquire()).toBe(reason);
  expect(bureau.inquiries).toEqual([]);
  expect(bureau.tokenRequests).toHaveLength(1);
});

test('a kept token that the bureau rejects by RFC 6750 → never sent, and the next inquiry has a new one', async () => {
  const { inquire, tokens } = await openOAuth(
    [tokenAnswer('T1'), tokenAnswer('T2')],
    [answer(FILE), REJECTED, answer(FILE)],
  );
  const outcomes = [await inquire(), await inquire(), await inquire()];
  expect(outcomes).toEqual(['file', 'token_rejected', 'file']);
  expect(tokens()).toEqual(['T1', 'T1', 'T2']);
});

test.each([
  ['a kept token with a 401 that names no reason', [answer(FILE), answer('', 401)], 2],
  ['a new token that is rejected', [REJECTED], 1],
])('%s → refused, and not sent again', async (_, inquiry, sent) => {
  const { bureau, inquire } = await openOAuth([tokenAnswer('T1'), tokenAnswer('T2')], inquiry);
  if (inquiry.length === 2) expect(await inquire()).toBe('file');
  expect(await inquire()).toBe('credentials');
  expect(bureau.inquiries).toHaveLength(sent);
});

test('a token that was rejected is not kept', async () => {
  const { inquire, tokens } = await openOAuth(
    [tokenAnswer('T1'), tokenAnswer('T2')],
    [answer(FILE), answer('', 401), answer(FILE)],
  );
  for (let count = 0; count < 3; count += 1) await inquire();
  expect(tokens()).toEqual(['T1', 'T1', 'T2']);
});
