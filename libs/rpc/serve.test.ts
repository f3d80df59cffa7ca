// A service as a process of its own: its ports, and its calls of peers.
import { Health, HealthCheckResponse_ServingStatus } from '@creditlane/proto/grpc/health/v1/health';
import { ServerReflection } from '@creditlane/proto/grpc/reflection/v1/reflection';
import { AccessService } from '@creditlane/proto/integrations/v1/integrations_service';
import { readEnv } from '@creditlane/runtime/env';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from './client.ts';
import { clientSettings } from './client-settings.ts';
import { generateIdentityKeys } from './credentials/identity-keys.ts';
import type { Endpoint } from './endpoint.ts';
import { connectPlainClient } from './grpc/test-plain-client.ts';
import { openHttpTransport } from './http/test-transport.ts';
import { serviceIdentity } from './identity.ts';
import { SERVER_SETTINGS, serve } from './serve.ts';
import { fakeService } from './test-fake-service.ts';

const gateway = generateIdentityKeys();
const routes = fakeService(AccessService, {
  authenticate: async () => ({ callerId: 'me' }),
  checkGrants: async () => ({ retailer: true }),
});

/** Serves on free ports of this machine. */
async function startServer(env: Record<string, string> = {}) {
  const process = createTestProcess('integrations');
  onTestFinished(() => process.closers.close());
  process.health.add('startup', () => 'starting');
  const ports = { GRPC_PORT: '0', HTTP_PORT: '0', HOST: '127.0.0.1' };
  const trust = { IDENTITY_TRUST: `gateway:${gateway.publicKey}` };
  const settings = readEnv({ ...ports, ...trust, ...env }, SERVER_SETTINGS.read);
  const served = await serve('integrations', settings, [routes], process);
  return { ...served, process };
}

function readClientSettings(grpcPort: number, env: Record<string, string> = {}) {
  const own = { IDENTITY_KEY: gateway.privateKey, INTEGRATIONS_ADDRESS: `localhost:${grpcPort}` };
  return readEnv({ ...own, ...env }, clientSettings('gateway', ['integrations']).read);
}

test.each([
  { what: 'in plain text', env: () => ({}) },
  {
    what: 'with certificates',
    env: () => {
      const { cert, key, ca } = new TestCertificateAuthority().issue();
      return { TLS_CERT_FILE: cert, TLS_KEY_FILE: key, TLS_CA_FILE: ca };
    },
  },
])('a service answers gRPC and HTTP $what', async (it) => {
  const env = it.env();
  const { grpcPort, http, process } = await startServer(env);
  const { closers } = process;
  const { signer, endpoints, certificates } = readClientSettings(grpcPort, env);
  const { unary, close } = openHttpTransport(http, certificates);
  closers.add('HTTP transport', close);
  const both: Endpoint[] = [endpoints.integrations, { kind: 'memory', unary }];
  for (const endpoint of both) {
    const access = connect(AccessService, endpoint, { signer, audience: 'integrations', closers });
    const request = { keyDigest: new Uint8Array(32) };
    const answer = await access.authenticate(request, { identity: serviceIdentity('gateway') });
    expect(answer.callerId).toBe('me');
  }
});

test('grpc.health.v1 reports the readiness, and with the setting grpc.reflection lists the services', async () => {
  const { grpcPort } = await startServer({ GRPC_REFLECTION: 'true' });
  const { status } = await connectPlainClient(Health, grpcPort).check({});
  expect(status).toBe(HealthCheckResponse_ServingStatus.NOT_SERVING);
  const requests = async function* () {
    yield { messageRequest: { case: 'listServices', value: '' } } as const;
  };
  for await (const answer of connectPlainClient(ServerReflection, grpcPort).serverReflectionInfo(
    requests(),
  )) {
    expect(JSON.stringify(answer.messageResponse.value)).toContain(AccessService.typeName);
  }
});

describe('the addresses of a peer', () => {
  const addressOf = (text: string) => {
    const endpoint = readClientSettings(1, { INTEGRATIONS_ADDRESS: text }).endpoints.integrations;
    return endpoint.kind === 'grpc' && endpoint.address;
  };

  test.each([
    { text: 'integrations.credit.svc:9000', address: 'integrations.credit.svc:9000' },
    { text: 'dns:///integrations:9000', address: 'dns:///integrations:9000' },
    { text: '10.0.0.1:9000', address: 'ipv4:10.0.0.1:9000' },
    { text: '10.0.0.1:1, 10.0.0.2:2', address: 'ipv4:10.0.0.1:1,10.0.0.2:2' },
  ])('$text is valid', ({ text, address }) => {
    expect(addressOf(text)).toBe(address);
  });

  test.each(['integrations', 'http://integrations:9000', 'a:1,b:2', ''])(
    '%j is not valid',
    (text) => {
      expect(() => addressOf(text)).toThrow(/^INTEGRATIONS_ADDRESS: (must be host:port|missing)/);
    },
  );
});

test('keys of identities that cannot be read: the configuration’s problem says whose they are', () => {
  expect(() => readClientSettings(1, { IDENTITY_KEY: 'bm8ga2V5' })).toThrow(
    'IDENTITY_KEY: the identity key cannot be read as base64 DER',
  );
  const trusting = (text: string) => readEnv({ IDENTITY_TRUST: text }, SERVER_SETTINGS.read);
  expect(() => trusting('gateway:bm8ga2V5')).toThrow(
    'IDENTITY_TRUST: the public key of gateway cannot be read as base64 DER',
  );
  expect(() => trusting('bm8ga2V5')).toThrow('IDENTITY_TRUST: must be issuer:key,issuer:key,…');
});
