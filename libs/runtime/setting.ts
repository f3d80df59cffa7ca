/** The settings of a process, declared once: environment variable, type, default, limits, documentation. */
import { type Duration, parseDurationMs } from './duration.ts';
import { type Env, type EnvReader, readEnv, refuse } from './env.ts';
import type { Renewed } from './renewed-file.ts';
import { observeKeyDates, splitKeyDate } from './telemetry/key-dates.ts';
import type { Metrics } from './telemetry/metrics.ts';

/** One environment variable, as the documentation lists it. */
export interface Variable {
  readonly name: string;
  /** The kind of value, such as "time span" or "URL". */
  readonly type: string;
  /** The default as an operator would write it; undefined where the variable must be set. */
  readonly default?: string | undefined;
  /** The bounds of the value, both included, such as "1s to 30s". */
  readonly limits?: string | undefined;
  /** One line: what the variable decides. */
  readonly about: string;
  /** Whether the value must be kept from everyone but the service. */
  readonly secret: boolean;
  /** Whether a running process uses what the variable's file holds, and not only what it held at the start. */
  readonly renewed: boolean;
  /** Makes the value in a new installation; only for secrets that the platform makes itself. */
  readonly generate?: (() => string) | undefined;
}

/** A value that is read from one environment variable, or from several together. */
export interface Setting<T> {
  readonly variables: readonly Variable[];
  /** Reads the value. Reports problems to the reader. */
  read(env: EnvReader): T;
  /** Exports what operators watch of the value, such as the age of a key. */
  observe?(value: T, metrics: Metrics): void;
}

/** Settings by their names in the code. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of settings, by the same names. */
export type SettingValues<S extends Settings> = {
  readonly [Name in keyof S]: S[Name] extends Setting<infer T> ? T : never;
};

/** `madeAt` is the day on which the key was made, where its text has it. */
export type Key = Buffer & { readonly madeAt?: Date | undefined };

/** The first key signs, and each of them verifies: keys that other processes sign with, before or after this one. */
export type Keys = readonly [Key, ...Key[]];

function parseKeys(text: string): Keys {
  const [first = '', ...others] = text.split(',').map((key) => key.trim());
  return [parseKey(first), ...others.map(parseKey)];
}

function parseKey(text: string): Key {
  const { key, madeAt } = splitKeyDate(text);
  return Object.assign(parseBase64(key), { madeAt });
}

function parseBase64(text: string): Buffer {
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
  return isBase64 ? Buffer.from(text, 'base64') : refuse('base64');
}

/** By their positions in the text, from 1 on. */
function datesOf(keys: Keys): ReadonlyMap<string, Date> {
  return new Map(
    keys.flatMap(({ madeAt }, index) => (madeAt ? [[String(index + 1), madeAt] as const] : [])),
  );
}

/** The options that every declaration takes. */
interface About {
  about: string;
  secret?: boolean;
  generate?: () => string;
}

interface Bounds<T> {
  default?: T;
  min?: T;
  max?: T;
}

/**
 * Reads all settings from the environment.
 * @throws {ConfigError} listing every problem as "NAME: what is wrong".
 */
export function readSettings<S extends Settings>(env: Env, settings: S): SettingValues<S> {
  return readEnv(env, (read) => valuesOf(settings, read));
}

/** The variables of several settings, each once. */
export function variablesOf(settings: Settings): Variable[] {
  const all = Object.values(settings).flatMap(({ variables }) => variables);
  return [...new Map(all.map((variable) => [variable.name, variable])).values()];
}

/** Exports what operators watch of the values of settings. */
export function observeSettings(
  settings: Settings,
  values: Readonly<Record<string, unknown>>,
  metrics: Metrics,
): void {
  for (const [name, { observe }] of Object.entries(settings)) observe?.(values[name], metrics);
}

/** Declares settings. Each takes the variable's name first; one without a default must be set. */
export const setting = {
  string(name: string, options: About & { default?: string }): Setting<string> {
    return one(name, 'text', options, (text) => text, options.default);
  },

  integer(name: string, options: About & Bounds<number>): Setting<number> {
    const read = (text: string) => (/^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN);
    const parse = parserWithin(options, { what: 'a whole number', unit: '' }, read);
    return one(name, 'whole number', options, parse, options.default);
  },

  /** 0 selects a free port. */
  port(name: string, options: About & { default: number }): Setting<number> {
    return setting.integer(name, { ...options, min: 0, max: 65_535 });
  },

  /** A time span; its value is in milliseconds. */
  durationMs(name: string, options: About & Bounds<Duration>): Setting<number> {
    const { default: text, min, max } = options;
    const bounds = {
      ...(min !== undefined && { min: parseDurationMs(min) }),
      ...(max !== undefined && { max: parseDurationMs(max) }),
    };
    const kind = { what: 'a time span such as 250ms, 5s or 24h', unit: ' ms' };
    const parse = parserWithin(bounds, kind, parseDurationMs);
    const fallback = text === undefined ? undefined : parseDurationMs(text);
    return one(name, 'time span', options, parse, fallback);
  },

  boolean(name: string, options: About & { default?: boolean }): Setting<boolean> {
    const parse = (text: string) => oneOf(text, ['true', 'false']) === 'true';
    return one(name, '`true` or `false`', options, parse, options.default);
  },

  /** An absolute URL, unchanged. */
  url(name: string, options: About & { default?: string }): Setting<string> {
    const parse = (text: string) => (URL.canParse(text) ? text : refuse('an absolute URL'));
    return one(name, 'URL', options, parse, options.default);
  },

  /** Values separated by commas, trimmed, empty ones left out. */
  list(name: string, options: About): Setting<string[]> {
    const items = (text: string) => text.split(',').map((item) => item.trim());
    return one(name, 'list', options, (text) => items(text).filter(Boolean));
  },

  oneOf<const T extends string>(
    name: string,
    values: readonly T[],
    options: About & { default?: T },
  ): Setting<T> {
    const type = values.map((value) => `\`${value}\``).join(', ');
    return one(name, type, options, (text) => oneOf(text, values), options.default);
  },

  /** The result of `parse`, also for the default, which is a text. For errors of `parse` see `EnvReader.parsed`. */
  parsed<T>(
    name: string,
    parse: (text: string) => T,
    options: About & { type: string; default?: string },
  ): Setting<T> {
    const { type, default: text } = options;
    return {
      variables: [variableOf(name, type, options)],
      read: (env) => env.parsed(name, parse, text === undefined ? undefined : parse(text)),
    };
  },

  /** `parsed` as a function, whose value follows the variable's file; see `EnvReader.renewed`. */
  renewed<T>(
    name: string,
    parse: (text: string) => T,
    options: About & { type: string; default?: string },
  ): Setting<Renewed<T>> {
    const { type, default: text } = options;
    return {
      variables: [variableOf(name, type, { ...options, renewed: true })],
      read: (env) => env.renewed(name, parse, text === undefined ? undefined : parse(text)),
    };
  },

  /** Keys in base64, which follow the variable's file. */
  keys(name: string, options: About): Setting<Renewed<Keys>> {
    const type = '`base64` or `base64:yyyy-MM-dd`, separated by commas';
    return {
      ...setting.renewed(name, parseKeys, { ...options, type }),
      observe: (keys, metrics) => observeKeyDates(metrics, name, () => datesOf(keys())),
    };
  },

  /** Several settings as one object. */
  all<S extends Settings>(settings: S): Setting<SettingValues<S>> {
    return {
      variables: variablesOf(settings),
      read: (env) => valuesOf(settings, env),
      observe: (values, metrics) => observeSettings(settings, values, metrics),
    };
  },
};

function one<T>(
  name: string,
  type: string,
  options: About & Bounds<unknown>,
  parse: (text: string) => T,
  fallback?: T,
): Setting<T> {
  return {
    variables: [variableOf(name, type, options)],
    read: (env) => env.parsed(name, parse, fallback),
  };
}

function variableOf(
  name: string,
  type: string,
  options: About & Bounds<unknown> & { renewed?: boolean },
): Variable {
  const { about, secret = false, renewed = false, generate } = options;
  const fallback = options.default === undefined ? undefined : String(options.default);
  const limits = limitsOf(options);
  return { name, type, default: fallback, limits, about, secret, renewed, generate };
}

/** A `parse` function for a number within the bounds, both included; `read` gives NaN for what is no such number. */
function parserWithin(
  { min = -Infinity, max = Infinity }: { min?: number; max?: number },
  { what, unit }: { what: string; unit: string },
  read: (text: string) => number,
): (text: string) => number {
  const bounds = [
    ...(min === -Infinity ? [] : [`of at least ${min}${unit}`]),
    ...(max === Infinity ? [] : [`of at most ${max}${unit}`]),
  ];
  return (text) => {
    const number = read(text);
    if (number >= min && number <= max) return number;
    return refuse([what, bounds.join(' and ')].join(' ').trimEnd());
  };
}

function oneOf<T extends string>(text: string, values: readonly T[]): T {
  return values.find((value) => value === text) ?? refuse(`one of ${values.join(', ')}`);
}

function limitsOf({ min, max }: Bounds<unknown>): string | undefined {
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  if (min !== undefined) return `at least ${min}`;
  return max === undefined ? undefined : `at most ${max}`;
}

function valuesOf<S extends Settings>(settings: S, env: EnvReader): SettingValues<S> {
  const values = Object.entries(settings).map(([name, { read }]) => [name, read(env)]);
  return Object.fromEntries(values);
}
