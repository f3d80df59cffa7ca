/** The webhook dispatcher as a process of its own. */
import { openBus } from '@creditlane/events/bus-from-config';
import { serve } from '@creditlane/rpc/serving';
import { run } from '@creditlane/runtime/run';
import { startWebhookDispatcher } from './app.ts';
import { readProcessConfig } from './config.ts';
import { SERVICE } from './destinations/destinations.ts';

await run(SERVICE, readProcessConfig, ({ dispatcher, serving, calling, kafka }, process) => {
  const bus = openBus(kafka, process);
  return serve(SERVICE, serving, process, () =>
    startWebhookDispatcher(dispatcher, { process, bus, ...calling }),
  );
});
