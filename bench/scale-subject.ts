/** The frame of a measurement on large tables: each file in scale/ begins with a line that says what it measures. */
import type { Closers } from '@creditlane/runtime/closers';
import { withClosers } from './with-closers.ts';

/** Runs a measurement, and closes what it has opened; the process fails when a figure is above its limit. */
export function measureScale(measure: (scale: Scale) => Promise<void>): Promise<void> {
  return withClosers(async (closers) => {
    const scale = new Scale(closers);
    await measure(scale);
    if (scale.exceeded > 0) process.exitCode = 1;
  });
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
}

function round(figure: number): number {
  return Number(figure.toPrecision(4));
}
