/** A Kafka bus as the tests make it: silent, impatient, and loud when it ends for good. */
import { createLog } from '@creditlane/runtime/log';
import { Metrics } from '@creditlane/runtime/metrics';
import { createKafkaBus, type KafkaBus, type KafkaBusOptions } from './kafka-bus.ts';
import type { KafkaConfig } from './kafka-config.ts';

export const log = createLog('test', { level: 'silent' });

/** A bus with the shortest waits that brokers allow. */
export function createTestBus(
  config: KafkaConfig,
  options: Partial<KafkaBusOptions> = {},
): KafkaBus {
  const onCrash = (error: Error) => {
    throw error;
  };
  const waits = { sessionTimeoutMs: 6_000, lagEveryMs: 100 };
  return createKafkaBus({ config, log, metrics: new Metrics(), onCrash, ...waits, ...options });
}
