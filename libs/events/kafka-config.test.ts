import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { readEnv } from '@creditlane/runtime/env';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { silentLog } from '@creditlane/runtime/test-log';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createClient } from './kafka/client.ts';
import { KAFKA } from './kafka-config.ts';

const read = (env: Record<string, string>) => readEnv(env, KAFKA.read);

test('the addresses are all that a cluster without locks needs', () => {
  expect(read({ KAFKA_BROKERS: '127.0.0.1:9092, [::1]:9092, localhost:9092' })).toEqual({
    brokers: ['127.0.0.1:9092', '[::1]:9092', 'localhost:9092'],
    prefix: '',
  });
});

test('brokers on another machine need TLS, or the leave to do without', () => {
  const env = { KAFKA_BROKERS: 'localhost:9092, b:9092' };
  const message = 'KAFKA_SSL: must be true, unless ALLOW_PLAINTEXT is true';
  expect(() => read(env)).toThrow(message);
  expect(() => read({ ...env, KAFKA_SSL: 'false', ALLOW_PLAINTEXT: 'false' })).toThrow(message);
  expect(read({ ...env, ALLOW_PLAINTEXT: 'true' }).brokers).toEqual(['localhost:9092', 'b:9092']);
});

test('TLS, credentials, a prefix and a replication are taken where they are given', () => {
  const env = {
    KAFKA_BROKERS: 'a:9093',
    KAFKA_SSL: 'true',
    KAFKA_SSL_CA: 'authority',
    KAFKA_SSL_CERT: 'certificate',
    KAFKA_SSL_KEY: 'key',
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'decisions',
    KAFKA_SASL_PASSWORD: 'secret',
    KAFKA_PREFIX: 'staging.',
    KAFKA_REPLICATION: '1',
  };
  const { tls, sasl, ...others } = read(env);
  expect(others).toEqual({ brokers: ['a:9093'], prefix: 'staging.', replication: 1 });
  expect(tls?.()).toEqual({ ca: 'authority', cert: 'certificate', key: 'key' });
  expect(sasl?.mechanism).toBe('scram-sha-512');
  expect(sasl?.login()).toEqual({ username: 'decisions', password: 'secret' });
});

test('TLS alone trusts the authorities of the system', () => {
  expect(read({ KAFKA_BROKERS: 'a:9093', KAFKA_SSL: 'true' }).tls?.()).toEqual({});
});

test('every half of a pair that is missing is named', () => {
  const env = {
    KAFKA_BROKERS: '',
    KAFKA_SSL: 'true',
    KAFKA_SSL_CERT: 'certificate',
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: 'decisions',
  };
  expect(() => read(env)).toThrow(
    'KAFKA_BROKERS: missing\nKAFKA_SSL_KEY: missing\nKAFKA_SASL_PASSWORD: missing',
  );
});

test('a broker whose certificate is not trusted gets nothing, also with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const { cert, key } = new TestCertificateAuthority().issue();
  let bytes = 0;
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (socket) => {
    socket.on('data', (data) => {
      bytes += data.length;
      socket.destroy();
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const config = { brokers: [`127.0.0.1:${port}`], prefix: '', tls: () => ({}) };
  await expect(createClient(config, silentLog).admin().connect()).rejects.toThrow(
    'unable to verify the first certificate',
  );
  expect(bytes).toBe(0);
});
