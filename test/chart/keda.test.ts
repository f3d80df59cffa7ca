// What KEDA is told of a service that is scaled by the events that wait for it.
import { SERVICES } from '@creditlane/platform/services';
import type { AnyService } from '@creditlane/service/define-service';
import { describe, expect, test } from 'vitest';
import { findHelm, type Manifest, renderChart } from './helm.ts';

const PRODUCTION = 'charts/creditlane/values/production.yaml';
const SERVICE = 'webhook-dispatcher';
const NAME = `test-creditlane-${SERVICE}`;
const services: readonly AnyService[] = SERVICES;
const { consumes: TOPICS = [] } = services.find(({ name }) => name === SERVICE) ?? {};
const helm = (await findHelm()) ?? '';

const render = (values: object) => renderChart(helm, values, [PRODUCTION]);
const objectOf = (objects: readonly Manifest[], kind: string, name = NAME) =>
  objects.find((it) => it.kind === kind && it.metadata.name === name);

describe.skipIf(!helm)('a service that is scaled by lag', () => {
  test('is scaled by the lag of its consumer group on each topic that it consumes', async () => {
    const autoscaling = { minReplicas: 3, maxReplicas: 9, lag: 500 };
    const values = { kafka: { prefix: 'own.' }, services: { [SERVICE]: { autoscaling } } };
    const objects = await render(values);
    const brokers = [0, 1, 2].map((broker) => `kafka-${broker}.example.internal:9093`);
    expect(TOPICS.length).toBeGreaterThan(1);
    expect(objectOf(objects, 'ScaledObject')?.spec).toEqual({
      scaleTargetRef: { name: NAME },
      minReplicaCount: 3,
      maxReplicaCount: 9,
      triggers: TOPICS.map((topic) => ({
        type: 'kafka',
        metadata: {
          bootstrapServers: brokers.join(','),
          // The group and the topics as the service names them, after KAFKA_PREFIX.
          consumerGroup: `own.${SERVICE}`,
          topic: `own.${topic}`,
          lagThreshold: '500',
        },
        authenticationRef: { name: NAME },
      })),
    });
  });

  test('has its own Kafka user', async () => {
    const objects = await render({});
    expect(authenticationOf(objects)).toEqual({
      sasl: [`${NAME}-keda`, 'sasl'],
      tls: [`${NAME}-keda`, 'tls'],
      username: [`${NAME}-keda`, 'username'],
      password: [NAME, 'KAFKA_SASL_PASSWORD'],
      ca: ['kafka-ca', 'ca.crt'],
    });
    expect(contentsOf(objects)).toEqual({
      sasl: 'scram_sha512',
      username: SERVICE,
      tls: 'enable',
    });
  });

  test('whose user is in a Secret is scaled with that user', async () => {
    const inSecret = { secret: 'logins', key: 'user' };
    const secretFiles = { KAFKA_SASL_USERNAME: inSecret };
    const objects = await render({ services: { [SERVICE]: { secretFiles } } });
    expect(authenticationOf(objects)).toMatchObject({
      username: ['logins', 'user'],
      password: [NAME, 'KAFKA_SASL_PASSWORD'],
    });
    expect(contentsOf(objects)).toEqual({ sasl: 'scram_sha512', tls: 'enable' });
  });

  test('has no authentication where Kafka asks for none', async () => {
    const kafka = { saslMechanism: 'none', tls: false, caSecret: '' };
    const objects = await render({ allowPlaintext: true, kafka });
    for (const { authenticationRef } of objectOf(objects, 'ScaledObject')?.spec.triggers ?? [])
      expect(authenticationRef).toBeUndefined();
    expect(objectOf(objects, 'TriggerAuthentication')).toBeUndefined();
    expect(objectOf(objects, 'Secret', `${NAME}-keda`)).toBeUndefined();
  });
});

interface SecretTarget {
  parameter: string;
  name: string;
  key: string;
}

/** By parameter of KEDA, the Secret and the key that it is read from. */
function authenticationOf(objects: readonly Manifest[]) {
  const targets: SecretTarget[] =
    objectOf(objects, 'TriggerAuthentication')?.spec.secretTargetRef ?? [];
  return Object.fromEntries(targets.map(({ parameter, name, key }) => [parameter, [name, key]]));
}

/** The Secret that the chart makes for KEDA. */
function contentsOf(objects: readonly Manifest[]) {
  return objectOf(objects, 'Secret', `${NAME}-keda`)?.stringData;
}
