/** Opens a process's event bus from its configuration. */
import type { Process } from '@creditlane/runtime/run';
import type { EventBus } from './bus.ts';
import { createKafkaBus } from './kafka/bus.ts';
import type { KafkaConfig } from './kafka-config.ts';

/**
 * Opens the bus over the configured Kafka cluster; the process's closers close it. The health check is
 * optional, because no caller's answer waits for the bus: while the cluster is unavailable, events wait in
 * the outbox.
 */
export function openBus(config: KafkaConfig, process: Process): EventBus {
  const { log, metrics, closers, health } = process;
  const bus = createKafkaBus({ config, log, metrics, onCrash: endProcess });
  closers.add('event bus', () => bus.close());
  health.optional.add('event bus', () => bus.ready());
  return bus;
}

/** Throws the error as an uncaught exception, which the process logs before it ends. */
function endProcess(error: Error): void {
  queueMicrotask(() => {
    throw error;
  });
}
