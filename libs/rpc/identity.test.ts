import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  generateIdentityKeys,
  type Identity,
  parseTrustedKeys,
  TokenSigner,
  TokenVerifier,
} from './identity.ts';

const integration: Identity = {
  kind: 'integration',
  subject: 'i-1',
  permissions: ['DECIDE'],
  retailerId: 'r-1',
};
const keys = generateIdentityKeys();
const START_MS = Date.parse('2026-01-05T10:00:00Z');

/** A signer and a verifier that share a clock, set by `at`. */
function pair(
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
  test('proves its identity, scope and all', async () => {
    const { signer, verifier } = pair();
    expect(await verifier.verify(await signer.sign('decisions', integration))).toEqual(integration);
  });

  test('is used again for 30 seconds and then made anew', async () => {
    const { signer, at } = pair();
    const first = await signer.sign('decisions', integration);
    at(29);
    expect(await signer.sign('decisions', { ...integration })).toBe(first);
    at(31);
    expect(await signer.sign('decisions', integration)).not.toBe(first);
  });

  test('is one’s own for each audience, scope and set of permissions', async () => {
    const { signer } = pair();
    const tokens = await Promise.all([
      signer.sign('decisions', integration),
      signer.sign('applications', integration),
      signer.sign('decisions', { ...integration, retailerId: 'r-2' }),
      signer.sign('decisions', { ...integration, retailerId: undefined, creditorId: 'r-1' }),
      signer.sign('decisions', { ...integration, permissions: ['DECIDE', 'COMMENT'] }),
    ]);
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  test('is refused once it is a minute old, however often it was taken before', async () => {
    const { signer, verifier, at } = pair();
    const token = await signer.sign('decisions', integration);
    await verifier.verify(token);
    at(59);
    await verifier.verify(token);
    at(66);
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'token_expired' });
  });

  test('is refused when it comes from the future', async () => {
    const { signer, verifier, at } = pair();
    at(60);
    const token = await signer.sign('decisions', integration);
    at(0);
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'token_invalid' });
  });

  test('is taken by either of two keys while its issuer changes its own', async () => {
    const { signer, verifier } = pair({
      gateway: [generateIdentityKeys().publicKey, keys.publicKey],
    });
    expect(await verifier.verify(await signer.sign('decisions', integration))).toEqual(integration);
  });

  test('is refused when its issuer is not trusted, even by a name every object has', async () => {
    const { verifier } = pair();
    const clock = () => new Date(START_MS);
    const { privateKey } = keys;
    const signer = new TokenSigner({ issuer: 'constructor', privateKey, clock });
    const token = await signer.sign('decisions', integration);
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'token_invalid' });
  });

  test.each(['', 'x', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJnYXRld2F5In0.'])(
    'is refused when it is no token: "%s"',
    async (text) => {
      await expect(pair().verifier.verify(text)).rejects.toMatchObject({ kind: 'unauthenticated' });
    },
  );
});

describe('identity keys', () => {
  test('are read from configuration, two for an issuer that changes its own', () => {
    const other = generateIdentityKeys().publicKey;
    expect(
      parseTrustedKeys(`gateway:${keys.publicKey}, decisions:${other},gateway:${other}`),
    ).toEqual({
      gateway: [keys.publicKey, other],
      decisions: [other],
    });
  });

  test.each(['', 'gateway', 'gateway:', ':abc', 'a:b:c'])(
    'are refused in the form "%s"',
    (text) => {
      expect(() => parseTrustedKeys(text)).toThrow();
    },
  );

  test('are refused by their issuer’s name when they cannot be read, without being quoted', () => {
    expect(() => parseTrustedKeys('gateway:c2VjcmV0')).toThrow(
      new Error('the public key of gateway cannot be read as base64 DER'),
    );
    expect(() => new TokenSigner({ issuer: 'gateway', privateKey: 'c2VjcmV0' })).toThrow(
      new Error('the identity key cannot be read as base64 DER'),
    );
  });

  test('are refused when they are of another kind', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const privateKey = rsa.privateKey.export({ format: 'der', type: 'pkcs8' });
    expect(() => new TokenSigner({ issuer: 'gateway', privateKey })).toThrow('not an Ed25519 key');
  });
});
