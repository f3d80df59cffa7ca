/** The gateway as a process of its own. */
import { TokenSigner } from '@creditlane/rpc/identity';
import { startOpsServer } from '@creditlane/runtime/ops-server';
import { run } from '@creditlane/runtime/run';
import { startGateway } from './app.ts';
import { readProcessConfig } from './config.ts';

await run('gateway', readProcessConfig, async (config, process) => {
  const { gateway, peers, identityKey: privateKey, opsPort: port } = config;
  const ops = await startOpsServer({ port, ...process });
  process.closers.add('ops server', ops.close);
  const signer = new TokenSigner({ issuer: 'gateway', privateKey });
  await startGateway(gateway, { process, peers, signer });
});
