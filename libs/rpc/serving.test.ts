// A service as a process of its own: its doors, its probes, and its calls of others.
import { Health, HealthCheckResponse_ServingStatus } from '@creditlane/proto/grpc/health/v1/health';
import { ServerReflection } from '@creditlane/proto/grpc/reflection/v1/reflection';
import { AccessService } from '@creditlane/proto/integrations/v1/integrations_service';
import { readEnv } from '@creditlane/runtime/env';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callingSetting } from './calling.ts';
import { connect, type Endpoint } from './client.ts';
import { connectPlainClient } from './grpc/test-plain-client.ts';
import { generateIdentityKeys, serviceIdentity } from './identity.ts';
import { implement } from './service.ts';
import { SERVING, serve } from './serving.ts';

type Doors = { msg: string; grpcPort: number; http: string; ops: string };

const gateway = generateIdentityKeys();
const routes = implement(AccessService, {
  authenticate: async () => ({ callerId: 'me' }),
  checkGrants: async () => ({ retailer: true }),
});

/** Serves on free ports of this machine, and gives where. */
async function open(env: Record<string, string> = {}) {
  const lines: Doors[] = [];
  const process = createTestProcess('integrations', { write: (it) => lines.push(JSON.parse(it)) });
  onTestFinished(() => process.closers.close());
  process.health.add('startup', () => 'starting');
  const ports = { GRPC_PORT: '0', HTTP_PORT: '0', OPS_PORT: '0', HOST: '127.0.0.1' };
  const trust = { IDENTITY_TRUST: `gateway:${gateway.publicKey}` };
  const serving = readEnv({ ...ports, ...trust, ...env }, SERVING.read);
  await serve('integrations', serving, process, async () => ({ routes: [routes] }));
  const doors = lines.find(({ msg }) => msg === 'serving');
  if (doors === undefined) throw new Error('no line says where it serves');
  return { ...doors, process };
}

function calling(grpcPort: number, env: Record<string, string> = {}) {
  const own = { IDENTITY_KEY: gateway.privateKey, INTEGRATIONS_ADDRESS: `localhost:${grpcPort}` };
  return readEnv({ ...own, ...env }, callingSetting('gateway', ['integrations']).read);
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
])('a service is called by gRPC and by HTTP $what, and probed on a port of its own', async (it) => {
  const env = it.env();
  const { grpcPort, http, ops, process } = await open(env);
  expect((await fetch(`${ops}/livez`)).status).toBe(200);
  expect((await fetch(`${ops}/readyz`)).status).toBe(503);
  const { closers } = process;
  const { signer, endpoints, certificates } = calling(grpcPort, env);
  const targets: Endpoint[] = [
    endpoints.integrations,
    { kind: 'http', baseUrl: http, certificates },
  ];
  for (const target of targets) {
    const access = connect(AccessService, target, { signer, audience: 'integrations', closers });
    const request = { keyDigest: new Uint8Array(32) };
    const answer = await access.authenticate(request, { identity: serviceIdentity('gateway') });
    expect(answer.callerId).toBe('me');
  }
});

test('probes learn by gRPC what they learn by HTTP, and tools what is served where that is wanted', async () => {
  const { grpcPort } = await open({ GRPC_REFLECTION: 'true' });
  const { status } = await connectPlainClient(Health, grpcPort).check({});
  expect(status).toBe(HealthCheckResponse_ServingStatus.NOT_SERVING);
  const questions = async function* () {
    yield { messageRequest: { case: 'listServices', value: '' } } as const;
  };
  for await (const answer of connectPlainClient(ServerReflection, grpcPort).serverReflectionInfo(
    questions(),
  )) {
    expect(JSON.stringify(answer.messageResponse.value)).toContain(AccessService.typeName);
  }
});

describe('the addresses of a peer', () => {
  const addressOf = (text: string) => {
    const target = calling(1, { INTEGRATIONS_ADDRESS: text }).endpoints.integrations;
    return target.kind === 'grpc' && target.address;
  };

  test.each([
    { text: 'integrations.credit.svc:9000', address: 'integrations.credit.svc:9000' },
    { text: 'dns:///integrations:9000', address: 'dns:///integrations:9000' },
    { text: '10.0.0.1:9000', address: 'ipv4:10.0.0.1:9000' },
    { text: '10.0.0.1:1, 10.0.0.2:2', address: 'ipv4:10.0.0.1:1,10.0.0.2:2' },
  ])('may be $text', ({ text, address }) => {
    expect(addressOf(text)).toBe(address);
  });

  test.each(['integrations', 'http://integrations:9000', 'a:1,b:2', ''])(
    'may not be %j',
    (text) => {
      expect(() => addressOf(text)).toThrow(/^INTEGRATIONS_ADDRESS: (must be host:port|missing)/);
    },
  );
});

test('a service without a key to sign with is told before it starts', () => {
  expect(() => calling(1, { IDENTITY_KEY: 'bm8ga2V5' })).toThrow('IDENTITY_KEY: is not valid');
});
