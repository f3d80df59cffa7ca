/** A worker that runs the platform in one process, as `npm start` does. */
import { HOST } from '@creditlane/local/host';
import { startPlatform } from '@creditlane/local/platform';
import { choosePorts } from '@creditlane/local/ports';
import { Closers } from '@creditlane/runtime/closers';
import { Health } from '@creditlane/runtime/health';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { PlatformWorker } from './run-mode.ts';
import { serveParent } from './worker.ts';

const log = createLog('bench', { level: 'warn', pretty: true });
const closers = new Closers();

const functions: PlatformWorker = {
  async start(options) {
    const metrics = new Metrics({ processFigures: true });
    const ports = await choosePorts({ first: 0, host: HOST });
    const workerProcess = { log, closers, metrics, health: new Health() };
    const { baseUrl, opsUrl } = await startPlatform({ ...options, ports }, workerProcess);
    return { baseUrl, processes: { platform: { pid: process.pid, opsUrl } } };
  },
};

serveParent(functions, () => closers.close());
