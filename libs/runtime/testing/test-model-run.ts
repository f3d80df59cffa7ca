/**
 * For model-based tests: runs random sequences of commands against a system and a model of its rules. Requests
 * are sent one by one and several at once; what is sent at once must have the outcomes of some order.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';

/** The rules of a system. States are plain data, because they are compared as JSON. */
export interface Model<State, Request> {
  readonly start: State;
  /** What a request has for an outcome in a state, and the state that it leaves. */
  apply(state: State, request: Request): { outcome: string; state: State };
  /** What `System.read` resolves to in a state. */
  shown(state: State): unknown;
}

/** The system under test, made anew for each sequence. */
export interface System<Request> {
  /** Sends a request; resolves to its outcome, also where it is refused. */
  send(request: Request): Promise<string>;
  read(): Promise<unknown>;
  /** Restarts what the requests are sent to, on the same data. */
  restart(): Promise<void>;
}

export interface ModelRunOptions<Request> {
  /** The requests that are sent at once, as `oneOrMore` makes them. */
  requests: fc.Arbitrary<Request[]>;
  /** How many sequences of commands. */
  runs: number;
  seed: number;
  /** How many commands a sequence has at most; one of 10 is a restart. */
  maxCommands: number;
}

/**
 * Rejects with the shortest sequence found of which the model does not explain what the system does. Resolves
 * to the outcomes that requests had, so that a test can require that the sequences reached every rule.
 */
export async function runAgainstModel<State, Request>(
  model: Model<State, Request>,
  start: () => Promise<System<Request>>,
  { requests, runs, seed, maxCommands }: ModelRunOptions<Request>,
): Promise<Set<string>> {
  const outcomes = new Set<string>();
  const command = fc.oneof(
    { weight: 9, arbitrary: requests.map((atOnce) => new Requests(model, atOnce, outcomes)) },
    { weight: 1, arbitrary: fc.constant(new Restart(model)) },
  );
  // Without a size, a sequence has ten commands at most.
  const sequences = fc.commands([command], { maxCommands, size: 'max' });
  await fc.assert(
    fc.asyncProperty(sequences, async (commands) => {
      const setup = async () => ({ model: { states: [model.start] }, real: await start() });
      await fc.asyncModelRun(setup, commands);
    }),
    { numRuns: runs, seed },
  );
  return outcomes;
}

/**
 * Mostly one request; else up to four that may be sent at once, different or equal. More would have too many
 * orders: as many as the factorial of their number.
 */
export function oneOrMore<Request>(
  single: fc.Arbitrary<Request>,
  concurrent = single,
): fc.Arbitrary<Request[]> {
  const copies = fc.tuple(concurrent, fc.integer({ min: 2, max: 4 }));
  return fc.oneof(
    { weight: 3, arbitrary: single.map((request) => [request]) },
    {
      weight: 1,
      arbitrary: copies.map(([request, count]) => Array<Request>(count).fill(request)),
    },
    { weight: 1, arbitrary: fc.array(concurrent, { minLength: 2, maxLength: 4 }) },
  );
}

/** The states that the system may be in: usually one, more while what is read does not tell them apart. */
interface Known<State> {
  states: State[];
}

class Requests<State, Request> implements fc.AsyncCommand<Known<State>, System<Request>> {
  readonly #model: Model<State, Request>;
  readonly #requests: readonly Request[];
  readonly #seen: Set<string>;

  constructor(model: Model<State, Request>, requests: readonly Request[], seen: Set<string>) {
    this.#model = model;
    this.#requests = requests;
    this.#seen = seen;
  }

  check(): boolean {
    return true;
  }

  async run(known: Known<State>, system: System<Request>): Promise<void> {
    const outcomes = await Promise.all(this.#requests.map((request) => system.send(request)));
    for (const outcome of outcomes) this.#seen.add(outcome);
    const permitted = permittedStates(this.#model, known.states, this.#requests, outcomes);
    await compare(this.#model, known, permitted, system, `${this} with ${outcomes.join(', ')}`);
  }

  toString(): string {
    return `at once ${JSON.stringify(this.#requests)}`;
  }
}

class Restart<State, Request> implements fc.AsyncCommand<Known<State>, System<Request>> {
  readonly #model: Model<State, Request>;

  constructor(model: Model<State, Request>) {
    this.#model = model;
  }

  check(): boolean {
    return true;
  }

  async run(known: Known<State>, system: System<Request>): Promise<void> {
    await system.restart();
    await compare(this.#model, known, known.states, system, `${this}`);
  }

  toString(): string {
    return 'restart';
  }
}

/** Leaves those of the permitted states that show what the system shows. Throws where there are none. */
async function compare<State, Request>(
  model: Model<State, Request>,
  known: Known<State>,
  permitted: readonly State[],
  system: System<Request>,
  command: string,
): Promise<void> {
  const shown = await system.read();
  const states = permitted.filter((state) => isDeepStrictEqual(model.shown(state), shown));
  if (states.length === 0) {
    const wanted = permitted.map((state) => JSON.stringify(model.shown(state)));
    throw new Error(
      `after ${command}: the system shows ${JSON.stringify(shown)}, and the model permits ` +
        `${wanted.join(' or ') || 'no such outcomes'}; before: ${JSON.stringify(known.states)}`,
    );
  }
  known.states = states;
}

/** The states in which the requests, in some order, have these outcomes and leave the system. */
function permittedStates<State, Request>(
  { apply }: Model<State, Request>,
  states: readonly State[],
  requests: readonly Request[],
  outcomes: readonly string[],
): State[] {
  const after = (state: State, remaining: readonly number[]): State[] => {
    if (remaining.length === 0) return [state];
    return remaining.flatMap((next) => {
      const { outcome, state: left } = apply(state, requests[next] as Request);
      const others = remaining.filter((it) => it !== next);
      return outcome === outcomes[next] ? after(left, others) : [];
    });
  };
  const found = states.flatMap((state) => after(state, [...requests.keys()]));
  return [...new Map(found.map((state) => [JSON.stringify(state), state])).values()];
}
