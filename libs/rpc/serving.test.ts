import { AccessService } from '@creditlane/proto/integrations/v1/integrations_service';
import { readEnv } from '@creditlane/runtime/env';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { afterEach, expect, test } from 'vitest';
import { connect, type Target } from './client.ts';
import { makeIdentityKeys, serviceIdentity, TokenSigner } from './identity.ts';
import { implement } from './service.ts';
import { readServing, serve } from './serving.ts';

const lines: { msg: string; grpcPort: number; http: string; ops: string }[] = [];
const process = createTestProcess('integrations', {
  write: (line) => lines.push(JSON.parse(line)),
});
afterEach(() => process.closers.close());

test('a service that serves is called by gRPC and by HTTP, and probed on a port of its own', async () => {
  const keys = makeIdentityKeys();
  const env = { GRPC_PORT: '0', HTTP_PORT: '0', OPS_PORT: '0' };
  const trust = { IDENTITY_TRUST: `gateway:${keys.publicKey}` };
  const serving = readEnv({ ...env, ...trust }, readServing);
  const routes = implement(AccessService, {
    authenticate: async () => ({ callerId: 'me' }),
    checkGrants: async () => ({ retailer: true }),
  });
  process.health.add('startup', () => 'starting');
  await serve('integrations', serving, process, async () => ({ routes: [routes] }));

  const { grpcPort = 0, http = '', ops = '' } = lines.find(({ msg }) => msg === 'serving') ?? {};
  expect((await fetch(`${ops}/livez`)).status).toBe(200);
  expect((await fetch(`${ops}/readyz`)).status).toBe(503);
  const signer = new TokenSigner({ issuer: 'gateway', privateKey: keys.privateKey });
  const targets: Target[] = [
    { kind: 'grpc', address: `127.0.0.1:${grpcPort}` },
    { kind: 'http', baseUrl: http.replace('0.0.0.0', '127.0.0.1') },
  ];
  for (const target of targets) {
    const { closers } = process;
    const access = connect(AccessService, target, { signer, audience: 'integrations', closers });
    const answer = await access.authenticate(
      { keyDigest: new Uint8Array(32) },
      { identity: serviceIdentity('gateway') },
    );
    expect(answer.callerId).toBe('me');
  }
});
