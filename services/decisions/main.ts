/** The decisions service as a process of its own. */
import { openBus } from '@creditlane/events/bus-from-config';
import { serve } from '@creditlane/rpc/serving';
import { run } from '@creditlane/runtime/run';
import { startDecisions } from './app.ts';
import { readProcessConfig } from './config.ts';

await run('decisions', readProcessConfig, ({ decisions, serving, calling, kafka }, process) => {
  const bus = openBus(kafka, process);
  return serve('decisions', serving, process, () =>
    startDecisions(decisions, { process, bus, ...calling }),
  );
});
