/** A Kafka bus as the tests make it: silent, impatient, and loud when it ends for good. */
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import type { KafkaConfig } from '../kafka-config.ts';
import { createKafkaBus, type KafkaBus, type KafkaBusOptions } from './bus.ts';

/** A bus with the shortest waits that brokers allow. */
export function createTestBus(
  config: KafkaConfig,
  options: Partial<KafkaBusOptions> = {},
): KafkaBus {
  const onCrash = (error: Error) => {
    throw error;
  };
  const waits = { sessionTimeoutMs: 6_000, lagEveryMs: 100 };
  return createKafkaBus({
    config,
    log: silentLog,
    metrics: new Metrics(),
    onCrash,
    ...waits,
    ...options,
  });
}
