/** The frame of a measurement on large tables: each file in scale/ begins with a line that says what it measures. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import { Closers } from '@creditlane/runtime/closers';

const CLOSE_WITHIN_MS = 60_000;

/** Runs a measurement, and closes what it has opened; the process fails when a figure is above its limit. */
export async function measureScale(measure: (scale: Scale) => Promise<void>): Promise<void> {
  const closers = new Closers({ deadlineMs: CLOSE_WITHIN_MS });
  const stop = () => void closers.close().finally(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const scale = new Scale(closers);
  try {
    await measure(scale);
  } finally {
    await closers.close();
  }
  if (scale.exceeded > 0) process.exitCode = 1;
}

/** What a measurement is given. */
export class Scale {
  /** Closed, last added first, when the measurement has ended. */
  readonly closers: Closers;
  /** How many figures are above their limits. */
  exceeded = 0;

  constructor(closers: Closers) {
    this.closers = closers;
  }

  print(line: string): void {
    process.stdout.write(`${line}\n`);
  }

  /** Prints a figure beside its limit. The command fails when a figure is above its limit. */
  limit(name: string, figure: number, limit: number, unit = ''): void {
    const isAbove = !(figure <= limit);
    if (isAbove) this.exceeded += 1;
    const text = `${round(figure)} ${unit}`.trimEnd();
    this.print(`${isAbove ? 'ABOVE' : 'ok   '}  ${name}: ${text} (at most ${round(limit)})`);
  }

  /** Starts an empty PostgreSQL that keeps every commit over a crash; resolves to the superuser's URL. */
  async startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<string> {
    const dataDir = await mkdtemp(join(tmpdir(), 'creditlane-scale-'));
    this.closers.add('data directory', () => rm(dataDir, { recursive: true, force: true }));
    // When root runs the measurement, PostgreSQL runs as another user, who must be able to enter.
    await chmod(dataDir, 0o755);
    const password = randomBytes(24).toString('base64url');
    const postgres = await startEmbeddedPostgres({ dataDir, password, settings });
    this.closers.add('PostgreSQL', postgres.close);
    return postgres.socketUrl;
  }
}

function round(figure: number): number {
  return Number(figure.toPrecision(4));
}
