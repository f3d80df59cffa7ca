import { createHmac, randomBytes } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { WEBHOOKS } from '../gen/tables.ts';
import {
  type ReceivedWebhook,
  type VerificationFailure,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from './verify-webhook.ts';

const NOW = Date.parse('2026-03-02T15:00:00Z');
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const [SECRET, OLD_SECRET, OTHER_SECRET] = [newSecret(), newSecret(), newSecret()] as const;
/** Compact JSON with characters beyond ASCII, as Creditlane sends it. */
const BODY =
  '{"retailerId":"r-1","status":"BOOKED","creditorId":"c-1","applicationId":"a-1","conditions":"preuve à fournir"}';

interface Signing {
  body?: string;
  /** Newest first; the newest makes the hex signature. */
  secrets?: string[];
  hexHeader?: string;
  sentAtMs?: number;
}

/** The headers that Creditlane sends, made by the public Standard Webhooks library and by Node's HMAC. */
function signedHeaders({
  body = BODY,
  secrets = [SECRET],
  hexHeader = 'X-SERVICE-SIGNATURE',
  sentAtMs = NOW,
}: Signing = {}): Record<string, string> {
  const sentAt = new Date(sentAtMs);
  const key = Buffer.from((secrets[0] ?? '').slice('whsec_'.length), 'base64');
  return {
    [hexHeader]: createHmac('sha256', key).update(body).digest('hex'),
    'webhook-id': 'msg-1',
    'webhook-timestamp': String(Math.floor(sentAtMs / 1000)),
    'webhook-signature': secrets.map((it) => new Webhook(it).sign('msg-1', sentAt, body)).join(' '),
    'webhook-sequence': '3',
  };
}

const verify = (given: Partial<ReceivedWebhook> = {}): Promise<WebhookEvent> =>
  verifyWebhook({ body: BODY, headers: signedHeaders(), secrets: SECRET, now: NOW, ...given });

async function refusal(given: Partial<ReceivedWebhook>): Promise<WebhookVerificationError> {
  const error = await verify(given).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(WebhookVerificationError);
  return error as WebhookVerificationError;
}

function without(headers: Record<string, string>, ...names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

/** As a framework gives the header that takes a comma for the end of a value. */
const split = (headers: Record<string, string>) => headers['webhook-signature']?.split(',') ?? [];

describe('a webhook that Creditlane signed', () => {
  test('is an event with its type, payload, id, time and sequence', async () => {
    expect(await verify()).toEqual({
      type: 'applicationBooked',
      payload: JSON.parse(BODY),
      id: 'msg-1',
      sentAt: new Date(NOW),
      sequence: 3,
      isTest: false,
    });
  });

  test('says whether it is a test event', async () => {
    const headers = { ...signedHeaders(), 'webhook-test': 'true' };
    expect(await verify({ headers })).toMatchObject({ type: 'applicationBooked', isTest: true });
  });

  test.each(['', 'soon', '3, 3'])('has no sequence where its header is "%s"', async (sequence) => {
    const headers = { ...signedHeaders(), 'webhook-sequence': sequence };
    expect((await verify({ headers })).sequence).toBeUndefined();
  });

  test('has a payload of the type of its event', async () => {
    const event = await verify();
    if (event.type !== 'applicationBooked') throw new Error(`the type is ${event.type}`);
    expectTypeOf(event.payload.status).toEqualTypeOf<'BOOKED'>();
    expectTypeOf<
      Extract<WebhookEvent, { type: 'applicationApproved' }>['payload']['frequency']
    >().toEqualTypeOf<'WEEKLY' | 'BI-WEEKLY' | 'SEMI-MONTHLY' | 'MONTHLY'>();
  });

  const bytes = new TextEncoder().encode(BODY);
  const foreignBytes: Uint8Array<ArrayBuffer> = runInNewContext('Uint8Array').from(bytes);
  const partOfBuffer = new DataView(Uint8Array.of(0, ...bytes, 0).buffer, 1, bytes.length);
  const node = signedHeaders();
  test.each<[string, Partial<ReceivedWebhook>]>([
    ['a string', { body: BODY }],
    ['bytes', { body: bytes }],
    ['a Buffer of Node', { body: Buffer.from(BODY) }],
    ['an ArrayBuffer', { body: bytes.buffer }],
    ['bytes of another global object, as in a sandbox', { body: foreignBytes }],
    ['an ArrayBuffer of another global object', { body: foreignBytes.buffer }],
    ['a part of an ArrayBuffer, as a DataView', { body: partOfBuffer as unknown as Uint8Array }],
    ['headers of fetch', { headers: new Headers(node) }],
    ['headers with values in lists', { headers: { ...node, 'webhook-id': ['msg-1'] } }],
    ['a signature split at its comma', { headers: { ...node, 'webhook-signature': split(node) } }],
    [
      'signatures with a comma and a blank between them',
      { headers: { ...node, 'webhook-signature': `v1,AAAA, ${node['webhook-signature']}` } },
    ],
    [
      'a signature of a later version before it',
      { headers: { ...node, 'webhook-signature': `v2,AAAA ${node['webhook-signature']}` } },
    ],
    ['a list of secrets, of which one matches', { secrets: [OTHER_SECRET, SECRET] }],
    [
      'the old of two secrets that signed it',
      { secrets: OLD_SECRET, headers: signedHeaders({ secrets: [SECRET, OLD_SECRET] }) },
    ],
    ['a time just within the tolerance', { now: NOW + 300_000 }],
    ['the hex signature by request', { scheme: 'hex' }],
    [
      'the hex signature alone by request',
      { scheme: 'hex', headers: without(node, 'webhook-id', 'webhook-signature') },
    ],
  ])('is verified with %s', async (_, given) => {
    expect((await verify(given)).type).toBe('applicationBooked');
  });

  test('has its id by its header also where the hex signature does not cover it', async () => {
    const found = await verify({ scheme: 'hex' });
    expect([found.id, found.sentAt]).toEqual(['msg-1', new Date(NOW)]);
    const alone = without(node, 'webhook-id', 'webhook-timestamp');
    const bare = await verify({ scheme: 'hex', headers: alone });
    expect([bare.id, bare.sentAt]).toEqual([undefined, undefined]);
    const odd = { ...node, 'webhook-timestamp': 'soon' };
    expect((await verify({ scheme: 'hex', headers: odd })).sentAt).toBeUndefined();
  });

  test.each(Object.entries(WEBHOOKS))(
    'has the type %s by its payload, and is refused with the signature header of another event',
    async (name, entry: {
      signatureHeader: string;
      status?: string;
      required?: readonly string[];
    }) => {
      const fields = (entry.required ?? []).map((field) => [field, 'x']);
      const payload = {
        retailerId: 'r-1',
        ...Object.fromEntries(fields),
        ...(entry.status && { status: entry.status }),
      };
      const body = JSON.stringify(payload);
      const right = entry.signatureHeader;
      const wrong =
        right === 'X-SERVICE-SIGNATURE' ? 'X-INTEGRATION-SIGNATURE' : 'X-SERVICE-SIGNATURE';
      for (const scheme of ['standard', 'hex'] as const) {
        const accepted = { body, scheme, headers: signedHeaders({ body, hexHeader: right }) };
        expect((await verify(accepted)).type).toBe(name);
        const withStray = { ...accepted.headers, [wrong]: 'f'.repeat(64) };
        expect((await verify({ ...accepted, headers: withStray })).type).toBe(name);
        const refused = { body, scheme, headers: signedHeaders({ body, hexHeader: wrong }) };
        expect(await refusal(refused)).toMatchObject({
          reason: 'wrong_header',
          message: expect.stringContaining(right),
        });
      }
    },
  );

  test('is an unknown event when this version of the client does not know its payload', async () => {
    const body = '{"status":"REFINANCED"}';
    const event = await verify({ body, headers: signedHeaders({ body }) });
    expect(event).toMatchObject({ type: 'unknown', payload: { status: 'REFINANCED' } });
  });
});

describe('a webhook that is refused', () => {
  const headers = signedHeaders();
  const cut = SECRET.slice(0, -5);
  const parsed = JSON.parse(BODY);
  const indented = JSON.stringify(parsed, null, 2);
  const spaced = `{${Object.entries(parsed)
    .map(([name, value]) => `"${name}": ${JSON.stringify(value)}`)
    .join(', ')}}`;
  const escaped = BODY.replace('à', '\\u00e0');

  interface Case {
    given: Partial<ReceivedWebhook>;
    says?: RegExp;
  }
  const CASES: Record<VerificationFailure, Record<string, Case>> = {
    missing_header: {
      'without webhook-id': {
        given: { headers: without(headers, 'webhook-id') },
        says: /webhook-id/,
      },
      'without webhook-timestamp': { given: { headers: without(headers, 'webhook-timestamp') } },
      'without webhook-signature': { given: { headers: without(headers, 'webhook-signature') } },
      'with the hex signature alone, which has no timestamp': {
        given: { headers: { 'X-SERVICE-SIGNATURE': headers['X-SERVICE-SIGNATURE'] } },
      },
      'without a hex signature when that is asked for': {
        given: { scheme: 'hex', headers: without(headers, 'X-SERVICE-SIGNATURE') },
        says: /X-SERVICE-SIGNATURE/,
      },
      'without a header': { given: { headers: {} } },
    },
    wrong_header: {
      'with the signature header of another event': {
        given: { scheme: 'hex', headers: signedHeaders({ hexHeader: 'X-INTEGRATION-SIGNATURE' }) },
        says: /in X-INTEGRATION-SIGNATURE, but applicationBooked is signed in X-SERVICE-SIGNATURE/,
      },
      'with a hex signature in webhook-signature': {
        given: { headers: { ...headers, 'webhook-signature': headers['X-SERVICE-SIGNATURE'] } },
        says: /webhook-signature holds a hex signature/,
      },
      'with a signature of Standard Webhooks in X-SERVICE-SIGNATURE': {
        given: {
          scheme: 'hex',
          headers: { ...headers, 'X-SERVICE-SIGNATURE': headers['webhook-signature'] },
        },
        says: /belongs into webhook-signature/,
      },
    },
    malformed_header: {
      'with a timestamp that is no number': {
        given: { headers: { ...headers, 'webhook-timestamp': '2026-03-02' } },
      },
      'with a signature of another version': {
        given: { headers: { ...headers, 'webhook-signature': 'v2,AAAA' } },
      },
      'with an empty signature': { given: { headers: { ...headers, 'webhook-signature': 'v1,' } } },
      'with an empty signature before another version': {
        given: { headers: { ...headers, 'webhook-signature': 'v1, v2,AAAA' } },
      },
      'with a signature that is part of another word': {
        given: { headers: { ...headers, 'webhook-signature': 'av1,AAAA' } },
      },
      'with a hex signature that is cut': {
        given: { scheme: 'hex', headers: { ...headers, 'X-SERVICE-SIGNATURE': 'abc' } },
      },
      'with two hex signatures': {
        given: {
          scheme: 'hex',
          headers: {
            ...headers,
            'X-SERVICE-SIGNATURE': [headers['X-SERVICE-SIGNATURE'] ?? '', 'f'],
          },
        },
      },
    },
    signature_mismatch: {
      'with the secret of another destination': { given: { secrets: OTHER_SECRET } },
      'with a changed body': { given: { body: BODY.replace('BOOKED', 'APPROVED') } },
      'with a body cut short': { given: { body: BODY.slice(0, -1) } },
      'with the id of another webhook': {
        given: { headers: { ...headers, 'webhook-id': 'msg-2' } },
      },
      'with a later timestamp than the signed one': {
        given: { headers: { ...headers, 'webhook-timestamp': String(NOW / 1000 + 1) } },
      },
      'with a changed body and the hex signature': { given: { scheme: 'hex', body: '{}' } },
      'with a body nested too deeply to be printed': {
        given: { body: `${'['.repeat(200_000)}${']'.repeat(200_000)}` },
      },
      'with a body larger than any webhook': { given: { body: `"${'x'.repeat(600_000)}"` } },
    },
    body_reserialised: {
      'as a parsed object': { given: { body: parsed }, says: /parsed value/ },
      'without a body': { given: { body: undefined as unknown as string }, says: /undefined/ },
      'printed with indentation': { given: { body: indented }, says: /printed again/ },
      'printed by Python': { given: { body: spaced } },
      'printed with escaped characters': { given: { body: escaped } },
      'with a line feed at its end': { given: { body: `${BODY}\n` } },
      'printed as a JSON string': { given: { body: JSON.stringify(BODY) }, says: /second time/ },
      'decoded as Latin-1': {
        given: { body: Buffer.from(BODY).toString('latin1') },
        says: /character set/,
      },
      'printed with indentation, and the hex signature': {
        given: { scheme: 'hex', body: indented },
      },
      'printed with indentation, and signed with a retired secret': {
        given: { secrets: OTHER_SECRET, retiredSecrets: [SECRET], body: indented },
      },
    },
    old_secret: {
      'signed with a retired secret alone': {
        given: { secrets: OTHER_SECRET, retiredSecrets: [OLD_SECRET, SECRET] },
        says: /retired/,
      },
      'with the hex signature of a newer secret than the given one': {
        given: {
          scheme: 'hex',
          secrets: OLD_SECRET,
          headers: signedHeaders({ secrets: [SECRET, OLD_SECRET] }),
        },
        says: /newer secret/,
      },
    },
    clock_skew: {
      'signed longer ago than the tolerance': {
        given: { now: NOW + 301_000 },
        says: /301 s before/,
      },
      'signed in the future': { given: { now: NOW - 301_000 }, says: /301 s after/ },
      'signed longer ago than a given tolerance': {
        given: { now: NOW + 11_000, toleranceMs: 10_000 },
      },
      'signed longer ago than the tolerance, with a scheme that is none': {
        given: { now: NOW + 301_000, scheme: 'Hex' as 'hex' },
      },
    },
    malformed_secret: {
      'without a secret': { given: { secrets: [] } },
      'with a secret without whsec_': {
        given: { secrets: SECRET.slice('whsec_'.length) },
        says: /whsec_/,
      },
      'with a secret that is cut': { given: { secrets: cut } },
      'with a secret of fewer bytes': {
        given: { secrets: `whsec_${btoa('short')}` },
        says: /5 bytes/,
      },
      'with a secret with a line feed': {
        given: { secrets: [SECRET, `${SECRET}\n`] },
        says: /Secret 2 of 2/,
      },
      'with a secret that is not set': { given: { secrets: [undefined as unknown as string] } },
    },
    malformed_body: {
      'signed though it is no JSON': {
        given: { body: 'ping', headers: signedHeaders({ body: 'ping' }) },
      },
    },
  };

  const table = Object.entries(CASES).flatMap(([reason, cases]) =>
    Object.entries(cases).map(([title, { given, says = /./ }]) => ({ reason, title, given, says })),
  );
  test.each(table)('$title has the reason $reason', async ({ reason, given, says }) => {
    const error = await refusal(given);
    expect([error.reason, error.message]).toEqual([reason, expect.stringMatching(says)]);
    for (const secret of [SECRET, OLD_SECRET, OTHER_SECRET]) {
      expect(error.message).not.toContain(secret.slice(6, 20));
    }
  });

  test('for its time says by how much: positive from the past, negative from the future', async () => {
    expect((await refusal({ now: NOW + 600_000 })).skewMs).toBe(600_000);
    expect((await refusal({ now: NOW - 600_000 })).skewMs).toBe(-600_000);
    expect((await refusal({ secrets: OTHER_SECRET })).skewMs).toBeUndefined();
  });

  test('is refused by the public Standard Webhooks library, too, for the same body, headers and secrets', async () => {
    for (const body of [`${BODY}\n`, escaped, spaced, BODY.replace('BOOKED', 'APPROVED')]) {
      expect(() => new Webhook(SECRET).verify(body, headers)).toThrow();
      await refusal({ body });
    }
  });
});

describe('any other input', () => {
  const anyHeader = fc.oneof(fc.string(), fc.constantFrom(...Object.values(signedHeaders())));
  const anyHeaders = fc.dictionary(fc.constantFrom(...Object.keys(signedHeaders())), anyHeader);
  const anyBody = fc.oneof(fc.json(), fc.string(), fc.uint8Array());
  const anyScheme = fc.constantFrom('standard' as const, 'hex' as const);

  test('is refused with a WebhookVerificationError', async () => {
    await fc.assert(
      fc.asyncProperty(anyBody, anyHeaders, anyScheme, async (body, headers, scheme) => {
        await refusal({ body, headers, scheme, retiredSecrets: [OLD_SECRET] });
      }),
      { numRuns: 500, seed: 20_261 },
    );
  });

  test('a signed body in which one byte is changed is refused', async () => {
    const bytes = new TextEncoder().encode(BODY);
    const place = fc.nat(bytes.length - 1);
    await fc.assert(
      fc.asyncProperty(
        place,
        fc.integer({ min: 1, max: 255 }),
        anyScheme,
        async (at, by, scheme) => {
          const body = bytes.with(at, (bytes[at] ?? 0) ^ by);
          await refusal({ body, scheme });
        },
      ),
      { numRuns: 500, seed: 20_262 },
    );
  });
});

test.each([
  ['bytes that are not JSON', new Uint8Array(512 * 1024), 1],
  ['a JSON text', JSON.stringify('x'.repeat(512 * 1024 - 2)), 2],
])(
  'refusing 512 KiB of %s that nobody signed takes no more signatures than its forms',
  async (_, body, forms) => {
    const verified = vi.spyOn(crypto.subtle, 'verify');
    expect((await refusal({ body })).reason).toBe('signature_mismatch');
    expect(verified).toHaveBeenCalledTimes(forms);
  },
);
