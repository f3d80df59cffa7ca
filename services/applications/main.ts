/**
 * The applications service as a process of its own. With a bus that reaches no other process, its
 * events wait in the outbox.
 */
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { serve } from '@creditlane/rpc/serving';
import { run } from '@creditlane/runtime/run';
import { startApplications } from './app.ts';
import { readProcessConfig } from './config.ts';

await run('applications', readProcessConfig, ({ applications, serving }, process) => {
  const bus = createInProcessBus();
  process.closers.add('event bus', () => bus.close());
  const start = () => startApplications(applications, { process, bus });
  return serve('applications', serving, process, start);
});
