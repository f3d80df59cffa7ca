/** A Kafka bus for tests: without log, with short timeouts, and with an error when consuming ends. */
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import type { KafkaConfig } from '../kafka-config.ts';
import { createKafkaBus, type KafkaBus, type KafkaBusOptions } from './bus.ts';

/** Creates a bus with the shortest session timeout that brokers accept. */
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
