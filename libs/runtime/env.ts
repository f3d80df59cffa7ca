import { readFileSync } from 'node:fs';
import { type Renewed, renewedFile } from './renewed-file.ts';
import { loggableMessage } from './telemetry/error-fields.ts';
import { LoggableError } from './telemetry/loggable-error.ts';

/** The environment a process was given. */
export type Env = NodeJS.ProcessEnv;

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
 * Reads variables one by one: `setting` declares their kinds. A variable without a fallback is required, and an empty variable counts as
 * missing. When NAME is not set, `NAME_FILE` may name a file with the value, as for mounted secrets.
 */
export class EnvReader {
  readonly #env: Env;
  readonly #problems: string[];

  constructor(env: Env, problems: string[]) {
    this.#env = env;
    this.#problems = problems;
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

  /** A placeholder, with the problem that the variable must be `what`. */
  refused<T>(name: string, what: string): T {
    this.#problems.push(`${name}: must be ${what}`);
    return undefined as T;
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

/** For a `parse` function: throws that the value must be `what`. */
export function refuse(what: string): never {
  throw new MismatchError(`must be ${what}`);
}
