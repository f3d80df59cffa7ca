import { readFileSync } from 'node:fs';
import { type Renewed, renewedFile } from './renewed-file.ts';
import { loggableMessage } from './telemetry/error-fields.ts';
import { LoggableError } from './telemetry/loggable-error.ts';

/** The environment a process was given. */
export type Env = NodeJS.ProcessEnv;

/** Bounds of a number, both included. */
export interface NumberOptions {
  default?: number;
  min?: number;
  max?: number;
}

const DURATION_UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a time span such as `250ms`, `5s`, `10m`, `24h` or `7d`; NaN for other text. */
export function parseDurationMs(text: string): number {
  const [, amount, unit] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
  return Number(amount) * (DURATION_UNITS_MS[unit as keyof typeof DURATION_UNITS_MS] ?? 1);
}

/** A time span in the largest unit that divides it, as `parseDurationMs` takes it: 7,200,000 is `2h`. */
export function formatDurationMs(durationMs: number): string {
  const units = Object.entries(DURATION_UNITS_MS).reverse();
  const [unit, unitMs] = units.find(([, unitMs]) => durationMs % unitMs === 0) ?? ['ms', 1];
  return `${durationMs / unitMs}${unit}`;
}

/** All problems of a configuration, one per line. Values are never quoted. */
export class ConfigError extends LoggableError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    // Two settings may be read from one variable.
    const distinct = [...new Set(problems)];
    super(distinct.join('\n'));
    this.problems = distinct;
  }
}

/**
 * Builds a configuration from the environment and reports all its problems at once.
 *
 * `build` must only assemble the values that it reads: after a problem, the reader returns placeholders, so
 * that the remaining variables are checked too.
 * @throws {ConfigError} listing every problem as "NAME: what is wrong".
 */
export function readEnv<T>(env: Env, build: (read: EnvReader) => T): T {
  const problems: string[] = [];
  const read = new EnvReader(env, problems);
  let built: T;
  try {
    built = build(read);
  } catch (error) {
    // The error was caused by a placeholder, so only the problems are reported.
    if (problems.length > 0) throw new ConfigError(problems);
    throw error;
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return built;
}

/**
 * Reads variables one by one. A variable without a fallback is required, and an empty variable counts as
 * missing. When NAME is not set, `NAME_FILE` may name a file with the value, as for mounted secrets.
 */
export class EnvReader {
  readonly #env: Env;
  readonly #problems: string[];

  constructor(env: Env, problems: string[]) {
    this.#env = env;
    this.#problems = problems;
  }

  string(name: string, fallback?: string): string {
    return this.parsed(name, (text) => text, fallback);
  }

  /** A whole number within the bounds. */
  integer(name: string, options: NumberOptions = {}): number {
    const kind = { what: 'a whole number', unit: '' };
    return this.#number(name, options, kind, (text) => {
      return /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    });
  }

  /** A time span as `parseDurationMs` takes it; the result and the options are in milliseconds. */
  durationMs(name: string, options: NumberOptions = {}): number {
    const kind = { what: 'a time span such as 250ms, 5s or 24h', unit: ' ms' };
    return this.#number(name, options, kind, parseDurationMs);
  }

  boolean(name: string, fallback?: boolean): boolean {
    const parse = (text: string) => oneOf(text, ['true', 'false']) === 'true';
    return this.parsed(name, parse, fallback);
  }

  /** An absolute URL, returned unchanged. */
  url(name: string, fallback?: string): string {
    const parse = (text: string) => (URL.canParse(text) ? text : refuse('an absolute URL'));
    return this.parsed(name, parse, fallback);
  }

  /** Values separated by commas, trimmed, empty ones left out. */
  list(name: string, fallback?: readonly string[]): string[] {
    const items = (text: string) => text.split(',').map((item) => item.trim());
    return this.parsed(name, (text) => items(text).filter(Boolean), fallback && [...fallback]);
  }

  oneOf<const T extends string>(name: string, values: readonly T[], fallback?: T): T {
    return this.parsed(name, (text) => oneOf(text, values), fallback);
  }

  /**
   * The result of `parse`. An error that `parse` throws becomes the problem of the variable; its message is
   * reported only when the error is `loggable`, because other messages may quote the value.
   */
  parsed<T>(name: string, parse: (text: string) => T, fallback?: T): T {
    try {
      const text = this.#text(name);
      if (text !== undefined) return parse(text);
      if (fallback !== undefined) return fallback;
      this.#problems.push(`${name}: missing`);
    } catch (error) {
      const reason = error instanceof Error ? loggableMessage(error) : undefined;
      this.#problems.push(`${name}: ${reason ?? 'is not valid'}`);
    }
    // A placeholder: readEnv throws because of the problem, so the value is never used.
    return undefined as T;
  }

  /**
   * `parsed` as a function, which gives the new value of a `NAME_FILE` that is replaced while the process runs; see
   * `renewedFile`.
   */
  renewed<T>(name: string, parse: (text: string) => T, fallback?: T): Renewed<T> {
    let text = '';
    const parseFirst = (first: string) => {
      text = first;
      return parse(first);
    };
    const value = this.parsed(name, parseFirst, fallback);
    const path = this.#env[`${name}_FILE`];
    return path && value !== undefined ? renewedFile(path, parse, { text, value }) : () => value;
  }

  /** A placeholder, with the problem that the variable, which is not set, must be `what`. */
  refused<T>(name: string, what: string): T {
    this.#problems.push(`${name}: must be ${what}`);
    return undefined as T;
  }

  #number(
    name: string,
    { default: fallback, min = -Infinity, max = Infinity }: NumberOptions,
    { what, unit }: { what: string; unit: string },
    parse: (text: string) => number,
  ): number {
    const parseWithin = (text: string) => {
      const number = parse(text);
      if (number >= min && number <= max) return number;
      const bounds = [
        ...(min === -Infinity ? [] : [`of at least ${min}${unit}`]),
        ...(max === Infinity ? [] : [`of at most ${max}${unit}`]),
      ];
      return refuse([what, bounds.join(' and ')].join(' ').trimEnd());
    };
    return this.parsed(name, parseWithin, fallback);
  }

  #text(name: string): string | undefined {
    const text = this.#env[name];
    const path = this.#env[`${name}_FILE`];
    if (!path) return text || undefined;
    if (text) throw new MismatchError(`set either this or ${name}_FILE, not both`);
    return readFileSync(path, 'utf8').trim() || undefined;
  }
}

/** A value is not of the kind that its variable requires. */
class MismatchError extends LoggableError {}

/** For a `parse` function: the bytes of a base64 text. */
export function parseBase64(text: string): Buffer {
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
  return isBase64 ? Buffer.from(text, 'base64') : refuse('base64');
}

/** For a `parse` function: throws that the value must be `what`. */
export function refuse(what: string): never {
  throw new MismatchError(`must be ${what}`);
}

function oneOf<T extends string>(text: string, values: readonly T[]): T {
  return values.find((value) => value === text) ?? refuse(`one of ${values.join(', ')}`);
}
