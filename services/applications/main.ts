/** The applications service as a process of its own. */
import { openBus } from '@creditlane/events/bus-from-config';
import { serve } from '@creditlane/rpc/serving';
import { run } from '@creditlane/runtime/run';
import { startApplications } from './app.ts';
import { readProcessConfig } from './config.ts';

await run('applications', readProcessConfig, ({ applications, serving, kafka }, process) => {
  const bus = openBus(kafka, process);
  return serve('applications', serving, process, () =>
    startApplications(applications, { process, bus }),
  );
});
