// One supervised process of a service.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOST } from '@creditlane/local/host';
import { StartError } from '@creditlane/local/start-error';
import { compiledModules } from '@creditlane/runtime/compiled-modules';
import type { Readiness } from '@creditlane/runtime/health';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { AnyService } from '@creditlane/service/define-service';
import { SupervisedProcess } from '@creditlane/supervision/supervised-process';
import type { Instance } from './instances.ts';
import { showLines } from './log-lines.ts';

export interface ServiceProcessOptions {
  instance: Instance;
  env: Record<string, string>;
  /** Names the process for the next start, in case this launcher is killed. */
  pidFile?: string;
  log: Log;
  /** Gets the log of the service's process as lines for people. */
  write: (text: string) => void;
  /** Called when the service was started again, with another pid. */
  onRestart: () => void;
}

const SERVICES_DIR = fileURLToPath(new URL('../../services/', import.meta.url));
const WATCHDOG = new URL('../../tasks/parent-death-watchdog.mjs', import.meta.url).href;
const RESTART = { baseMs: 250, capMs: 10_000 };
/** On a busy machine a start has taken 42 s, and the gateway waits for all others. */
const READY_WITHIN_MS = 180_000;
const PROBE_TIMEOUT_MS = 5_000;
/** Shorter than the time that the launcher's process allows each of its closers. */
const STOP_SIGNALS = [{ signal: 'SIGTERM', waitMs: 8_000 }] as const;

/** A service's process, started again whenever it ends by itself; see `SupervisedProcess`. */
export class ServiceProcess extends SupervisedProcess {
  readonly instance: Instance;

  constructor({ instance, log, onRestart, ...options }: ServiceProcessOptions) {
    const { name, ports } = instance;
    const { pidFile } = options;
    super({
      name,
      spawn: () => spawnService(instance, options),
      probe: () => probeReadiness(`http://${HOST}:${ports.ops}/readyz`),
      readyWithinMs: READY_WITHIN_MS,
      startError: (missing) =>
        new StartError(
          missing === undefined
            ? `${name} could not start; its log says why.`
            : `${name} is not ready: ${missing}`,
        ),
      restart: RESTART,
      stopSignals: STOP_SIGNALS,
      ...(pidFile !== undefined && { pidFile }),
      log,
      onRestart,
    });
    this.instance = instance;
  }
}

/** The file that runs a service, or a command of its operators. */
export function mainFileOf(service: AnyService): string {
  return join(SERVICES_DIR, service.name, 'main.ts');
}

function spawnService(
  { name, service }: Instance,
  { env, write }: Pick<ServiceProcessOptions, 'env' | 'write'>,
): ChildProcess {
  const flags = ['--disable-warning=ExperimentalWarning', '--import', WATCHDOG];
  const child = spawn(process.execPath, [...flags, mainFileOf(service)], {
    // A group of its own: Ctrl-C is for the launcher. The parent-death watchdog ends the service when
    // the launcher is killed.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...compiledModules(), ...env, CREDITLANE_LAUNCHER: String(process.pid) },
  });
  for (const output of [child.stdout, child.stderr]) {
    if (output !== null) showLines(name, output, write);
  }
  return child;
}

/** True once the service is ready and answers every operation; else what its readiness endpoint says is missing. */
async function probeReadiness(url: string): Promise<true | string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    const text = await response.text();
    if (!response.ok) return text;
    const { unavailableOperations = [] } = JSON.parse(text) as Readiness;
    return unavailableOperations.length === 0 || text;
  } catch {
    return `no answer from ${url}`;
  }
}
