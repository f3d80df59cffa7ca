/**
 * The decisions service as a process of its own. With a bus that reaches no other process, its
 * events wait in the outbox, and it asks for the submissions that it is not told of.
 */
import { createInProcessBus } from '@creditlane/events/in-process-bus';
import { TokenSigner } from '@creditlane/rpc/identity';
import { serve } from '@creditlane/rpc/serving';
import { run } from '@creditlane/runtime/run';
import { startDecisions } from './app.ts';
import { readProcessConfig } from './config.ts';

await run('decisions', readProcessConfig, (config, process) => {
  const { decisions, serving, peers, identityKey: privateKey } = config;
  const bus = createInProcessBus();
  process.closers.add('event bus', () => bus.close());
  const signer = new TokenSigner({ issuer: 'decisions', privateKey });
  const start = () => startDecisions(decisions, { process, bus, peers, signer });
  return serve('decisions', serving, process, start);
});
