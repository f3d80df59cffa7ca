/** What every measurement is given: closers, the plan, and a way to print its figures. */
import { Closers } from '@creditlane/runtime/closers';
import type { Plan } from './plan.ts';

/** The processes of a platform stop one after the other, each within ten seconds. */
const CLOSE_WITHIN_MS = 60_000;

/** What a file of subjects/ exports: its name is the subject's. */
export type Measure = (bench: Bench) => Promise<void>;

export interface BenchOptions {
  plan: Plan;
  /** Node's flags for the platform's processes. */
  nodeFlags: string[];
  /** What follows the subject on the command line. */
  argument?: string | undefined;
}

export class Bench implements BenchOptions {
  readonly plan: Plan;
  readonly nodeFlags: string[];
  readonly argument: string | undefined;
  /** Closed, last added first, when the measurement has ended. */
  readonly closers: Closers;
  /** All figures by their names, in the order in which they were measured. */
  readonly figures: Record<string, number> = {};
  /** How many figures are above their limits. */
  exceeded = 0;

  constructor({ plan, nodeFlags, argument }: BenchOptions, closers: Closers) {
    this.plan = plan;
    this.nodeFlags = nodeFlags;
    this.argument = argument;
    this.closers = closers;
  }

  print(line: string): void {
    process.stdout.write(`${line}\n`);
  }

  /** Prints a figure, beside its target where it has one. Nothing is printed for a figure that could not be measured. */
  figure(name: string, figure: number | undefined, unit = '', target = ''): void {
    if (figure === undefined) return;
    this.figures[name] = figure;
    const text = `${round(figure)} ${unit}`.trimEnd();
    this.print(`${name}: ${text}${target && ` (target ${target})`}`);
  }

  /** Prints a figure beside its limit. The command fails when a figure is above its limit. */
  limit(name: string, figure: number, limit: number, unit = ''): void {
    this.figures[name] = figure;
    const isAbove = !(figure <= limit);
    if (isAbove) this.exceeded += 1;
    const text = `${round(figure)} ${unit}`.trimEnd();
    this.print(`${isAbove ? 'ABOVE' : 'ok   '}  ${name}: ${text} (at most ${round(limit)})`);
  }
}

function round(figure: number): number {
  return Number(figure.toPrecision(4));
}

/** Runs a measurement and then its closers, which also run when a signal ends the process. */
export async function runMeasure(measure: Measure, options: BenchOptions): Promise<Bench> {
  const closers = new Closers({ deadlineMs: CLOSE_WITHIN_MS });
  const stop = () => void closers.close().finally(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const bench = new Bench(options, closers);
  try {
    await measure(bench);
  } finally {
    await closers.close();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  return bench;
}
