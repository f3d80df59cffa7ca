/** The one place that turns a process's configuration into its event bus. */
import type { Process } from '@creditlane/runtime/run';
import type { EventBus } from './bus.ts';
import { createKafkaBus } from './kafka/bus.ts';
import type { KafkaConfig } from './kafka-config.ts';

/**
 * The bus over the Kafka cluster that the configuration names; it ends with the process. No
 * caller's answer waits for it: while it is away, events wait in the outbox or in the cluster.
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
