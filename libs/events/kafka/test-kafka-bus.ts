/** A Kafka bus for tests: without log, with short timeouts, and with an error when consuming ends. */
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import type { KafkaConfig } from '../kafka-config.ts';
import { createKafkaBus, type KafkaBus, type KafkaBusOptions } from './bus.ts';

/**
 * A session that lasts while the machine pauses this process. A member whose session ends loses its partitions, and messages that it
 * has handled and not committed are handled again. For tests whose members all leave their group by closing.
 */
export const LONG_SESSION = { sessionTimeoutMs: 30_000 };

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
