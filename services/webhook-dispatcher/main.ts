/**
 * The webhook dispatcher as a process of its own. With a bus that reaches no other process, it sends
 * what its database holds, and hears of nothing new.
 */
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { serve } from '@creditlane/rpc/serving';
import { run } from '@creditlane/runtime/run';
import { startWebhookDispatcher } from './app.ts';
import { readProcessConfig } from './config.ts';

await run('webhook-dispatcher', readProcessConfig, ({ dispatcher, serving, peers }, process) => {
  const bus = createInProcessBus();
  process.closers.add('event bus', () => bus.close());
  const start = () => startWebhookDispatcher(dispatcher, { process, bus, peers });
  return serve('webhook-dispatcher', serving, process, start);
});
