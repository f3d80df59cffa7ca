/** The gateway as a process of its own. */
import { startOpsServer } from '@creditlane/runtime/ops-server';
import { run } from '@creditlane/runtime/run';
import { startGateway } from './app.ts';
import { readProcessConfig } from './config.ts';

await run('gateway', readProcessConfig, async ({ gateway, calling, opsPort: port }, process) => {
  calling.certificates?.observe(process);
  const ops = await startOpsServer({ host: gateway.host, port, ...process });
  process.closers.add('ops server', ops.close);
  await startGateway(gateway, { process, ...calling });
});
