/** The integrations service as a process of its own. */
import { serve } from '@creditlane/rpc/serving';
import { run } from '@creditlane/runtime/run';
import { startIntegrations } from './app.ts';
import { readProcessConfig } from './config.ts';

await run('integrations', readProcessConfig, ({ integrations, serving }, process) =>
  serve('integrations', serving, process, () => startIntegrations(integrations, { process })),
);
