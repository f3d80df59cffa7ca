/**
 * Consumes the events that webhooks are made from: new ones from the bus, and dead letters again, as operators
 * request. Meanwhile compares what was written with what was handled.
 */
import { startRedriveWorker } from '@creditlane/messaging/dead-letters/redrive-worker';
import { sourceAt, startReconciler } from '@creditlane/messaging/reconciliation/reconciler';
import type { ClientOptions } from '@creditlane/rpc/client';
import type { WithBus, WithCalls } from '@creditlane/service/define-service';
import { SERVICE } from '../service-name.ts';
import { findTooFewDeliveries } from '../store/intake/expected-deliveries.ts';
import { createIntake, type IntakeDeps } from './intake.ts';

/** The services whose events are consumed. */
const PUBLISHERS = ['applications', 'integrations', 'decisions'] as const;

export interface ConsumingPeers extends WithBus, WithCalls<(typeof PUBLISHERS)[number]> {
  readonly closers: ClientOptions['closers'];
}

/** Resolves once it has subscribed; `close` finishes the batch under way. */
export async function startConsuming(
  deps: IntakeDeps,
  { bus, signer, closers, endpoints }: ConsumingPeers,
): Promise<{ close(): Promise<void> }> {
  const { pool, log, metrics, sources } = deps;
  const handle = createIntake(deps);
  const topics = [...new Set(sources.map(({ topic }) => topic))];
  const subscription = await bus.subscribe({ group: SERVICE, topics, handle });
  const redrives = startRedriveWorker({ pool, consumer: SERVICE, handle, log, metrics });
  const peer = { signer, metrics, ...(closers && { closers }) };
  const reconciler = startReconciler({
    ...{ pool, consumer: SERVICE, subscription, log, metrics },
    sources: PUBLISHERS.map((name) => sourceAt(name, endpoints[name], peer, SERVICE)),
    findTooFewEffects: findTooFewDeliveries,
  });
  return {
    async close() {
      await Promise.all([redrives.close(), reconciler.close(), subscription.close()]);
    },
  };
}
