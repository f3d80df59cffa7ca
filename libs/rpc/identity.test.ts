import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  generateIdentityKeys,
  parseTrustedKeys,
  type TrustedKeys,
} from './credentials/identity-keys.ts';
import { type Identity, TokenSigner, TokenVerifier } from './identity.ts';

const integration: Identity = {
  kind: 'integration',
  subject: 'i-1',
  permissions: ['DECIDE'],
  retailerId: 'r-1',
};
const keys = generateIdentityKeys();
const START_MS = Date.parse('2026-01-05T10:00:00Z');

/** A signer and a verifier that share a clock; `at` sets it to seconds after the start. */
function createPair(
  trusted = { gateway: keys.publicKey } as ConstructorParameters<
    typeof TokenVerifier
  >[0]['trusted'],
) {
  let nowMs = START_MS;
  const clock = () => new Date(nowMs);
  return {
    signer: new TokenSigner({ issuer: 'gateway', privateKey: keys.privateKey, clock }),
    verifier: new TokenVerifier({ audience: 'decisions', trusted, clock }),
    at(seconds: number) {
      nowMs = START_MS + seconds * 1000;
    },
  };
}

describe('a signed token', () => {
  test('contains the identity with its scope, and with the retailer of the header', async () => {
    const { signer, verifier } = createPair();
    const inContext = { ...integration, retailerContext: 'r-2' };
    for (const identity of [integration, inContext]) {
      expect(await verifier.verify(await signer.sign('decisions', identity))).toEqual(identity);
    }
  });

  test('gives the ids of its scope in lower case', async () => {
    const { signer, verifier } = createPair();
    const scope = { retailerId: 'R-1', creditorId: 'C-1' };
    const token = await signer.sign('decisions', { ...integration, ...scope, subject: 'I-1' });
    expect(await verifier.verify(token)).toMatchObject({
      subject: 'I-1',
      retailerId: 'r-1',
      creditorId: 'c-1',
    });
  });

  test('is reused for 30 seconds', async () => {
    const { signer, at } = createPair();
    const first = await signer.sign('decisions', integration);
    at(29);
    expect(await signer.sign('decisions', { ...integration })).toBe(first);
    at(31);
    expect(await signer.sign('decisions', integration)).not.toBe(first);
  });

  test('is not reused once the clock was set back, before which it would be of the future', async () => {
    const { signer, verifier, at } = createPair();
    at(600);
    await signer.sign('decisions', integration);
    at(0);
    const token = await signer.sign('decisions', integration);
    expect(await verifier.verify(token)).toEqual(integration);
  });

  test('differs by audience, scope and permissions', async () => {
    const { signer } = createPair();
    const tokens = await Promise.all([
      signer.sign('decisions', integration),
      signer.sign('applications', integration),
      signer.sign('decisions', { ...integration, retailerId: 'r-2' }),
      signer.sign('decisions', { ...integration, retailerContext: 'r-2' }),
      signer.sign('decisions', { ...integration, retailerId: undefined, creditorId: 'r-1' }),
      signer.sign('decisions', { ...integration, permissions: ['DECIDE', 'COMMENT'] }),
    ]);
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  test('expires after a minute, even if it was verified before', async () => {
    const { signer, verifier, at } = createPair();
    const token = await signer.sign('decisions', integration);
    await verifier.verify(token);
    at(59);
    await verifier.verify(token);
    at(66);
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'token_expired' });
  });

  test('is not valid when it was issued in the future', async () => {
    const { signer, verifier, at } = createPair();
    at(60);
    const token = await signer.sign('decisions', integration);
    at(0);
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'token_invalid' });
  });

  test('is valid with either key of an issuer that has two', async () => {
    const { signer, verifier } = createPair({
      gateway: [generateIdentityKeys().publicKey, keys.publicKey],
    });
    expect(await verifier.verify(await signer.sign('decisions', integration))).toEqual(integration);
  });

  test('is not valid when its issuer is not trusted, even one named like a property of Object', async () => {
    const { verifier } = createPair();
    const clock = () => new Date(START_MS);
    const { privateKey } = keys;
    const signer = new TokenSigner({ issuer: 'constructor', privateKey, clock });
    const token = await signer.sign('decisions', integration);
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'token_invalid' });
  });

  test.each(['', 'x', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJnYXRld2F5In0.'])(
    'is not valid when the text is not a token: "%s"',
    async (text) => {
      await expect(createPair().verifier.verify(text)).rejects.toMatchObject({
        kind: 'unauthenticated',
      });
    },
  );
});

test('a key is replaced while signer and verifier run: trusted beside the old one, used, then alone', async () => {
  const next = generateIdentityKeys();
  let privateKey = keys.privateKey;
  let trusted: TrustedKeys = { gateway: keys.publicKey };
  const signer = new TokenSigner({ issuer: 'gateway', privateKey: () => privateKey });
  const verifier = new TokenVerifier({ audience: 'decisions', trusted: () => trusted });
  const sign = () => signer.sign('decisions', integration);
  const first = await sign();
  trusted = { gateway: [keys.publicKey, next.publicKey] };
  expect(await verifier.verify(first)).toEqual(integration);
  privateKey = next.privateKey;
  const second = await sign();
  expect(second).not.toBe(first);
  expect(await verifier.verify(first)).toEqual(integration);
  expect(await verifier.verify(second)).toEqual(integration);
  trusted = { gateway: next.publicKey };
  await expect(verifier.verify(first)).rejects.toMatchObject({ kind: 'unauthenticated' });
  expect(await verifier.verify(second)).toEqual(integration);
});

test('a token whose key is replaced while it is verified is refused afterwards', async () => {
  const next = generateIdentityKeys();
  let trusted: TrustedKeys = { gateway: keys.publicKey };
  const verifier = new TokenVerifier({ audience: 'decisions', trusted: () => trusted });
  const signedWith = ({ privateKey }: { privateKey: string }) =>
    new TokenSigner({ issuer: 'gateway', privateKey }).sign('decisions', integration);
  const [token, nextToken] = [await signedWith(keys), await signedWith(next)];
  const underWay = verifier.verify(token);
  trusted = { gateway: next.publicKey };
  await Promise.all([underWay, verifier.verify(nextToken)]);
  await expect(verifier.verify(token)).rejects.toMatchObject({ kind: 'unauthenticated' });
});

describe('identity keys', () => {
  test('are parsed, two for an issuer that is listed twice', () => {
    const other = generateIdentityKeys().publicKey;
    expect(
      parseTrustedKeys(`gateway:${keys.publicKey}, decisions:${other},gateway:${other}`),
    ).toEqual({
      gateway: [keys.publicKey, other],
      decisions: [other],
    });
  });

  test.each(['', 'gateway', 'gateway:', ':abc', 'a:b:c'])('are not parsed from "%s"', (text) => {
    expect(() => parseTrustedKeys(text)).toThrow();
  });

  test('of an entry that begins with the key: an error that does not quote the key', () => {
    expect(() => parseTrustedKeys(`${keys.privateKey}:gateway`)).toThrow(
      /^must be issuer:key,issuer:key,…$/,
    );
  });

  test('that cannot be read: an error that names the issuer and does not quote the key', () => {
    expect(() => parseTrustedKeys('gateway:c2VjcmV0')).toThrow(
      /^the public key of gateway cannot be read as base64 DER$/,
    );
    expect(() => new TokenSigner({ issuer: 'gateway', privateKey: 'c2VjcmV0' })).toThrow(
      /^the identity key cannot be read as base64 DER$/,
    );
  });

  test('of another type: an error', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const privateKey = rsa.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    expect(() => new TokenSigner({ issuer: 'gateway', privateKey })).toThrow('not an Ed25519 key');
  });
});
