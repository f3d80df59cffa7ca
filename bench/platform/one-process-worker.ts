/** The platform in one process, as `npm start` runs it. */

import { HOST } from '@creditlane/local/host';
import { startPlatform } from '@creditlane/local/platform';
import { choosePorts } from '@creditlane/local/ports';
import { Closers } from '@creditlane/runtime/closers';
import { Health } from '@creditlane/runtime/health';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { PlatformPart } from './run-mode.ts';
import { playPart } from './worker.ts';

const log = createLog('bench', { level: 'warn', pretty: true });
const closers = new Closers();

const functions: PlatformPart = {
  async start(options) {
    const metrics = new Metrics({ processFigures: true });
    const ports = await choosePorts(0, HOST);
    const life = { log, closers, metrics, health: new Health() };
    const { baseUrl, opsUrl } = await startPlatform({ ...options, ports }, life);
    return { baseUrl, processes: { platform: { pid: process.pid, opsUrl } } };
  },
};

playPart(functions, () => closers.close());
