import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Model, runAgainstModel, type System } from './test-model-run.ts';

/** A register: each request sets its value, unless the value is that already. */
const model: Model<{ value: number }, number> = {
  start: { value: 0 },
  apply: ({ value }, request) =>
    value === request
      ? { outcome: 'equal', state: { value } }
      : { outcome: 'set', state: { value: request } },
  shown: ({ value }) => value,
};

interface Faults {
  /** Requests compare with the value before all requests that are sent at once. */
  readsEarly?: boolean;
  losesAtRestart?: boolean;
  refusesEqual?: boolean;
}

async function startRegister(faults: Faults): Promise<System<number>> {
  let value = 0;
  return {
    async send(request) {
      const before = value;
      if (faults.readsEarly) await Promise.resolve();
      if (faults.refusesEqual && before === request) return 'refused';
      if (before === request) return 'equal';
      value = request;
      return 'set';
    },
    read: async () => value,
    async restart() {
      if (faults.losesAtRestart) value = 0;
    },
  };
}

const run = (faults: Faults) =>
  runAgainstModel(model, () => startRegister(faults), {
    requests: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 3 }),
    runs: 100,
    seed: 1,
    maxCommands: 10,
  });

describe('a run against a model', () => {
  test('resolves to the outcomes that requests had', async () => {
    expect([...(await run({}))].toSorted()).toEqual(['equal', 'set']);
  });

  test.each<[string, Faults, RegExp]>([
    ['requests at once have the outcomes of no order', { readsEarly: true }, /at once \[/],
    ['a restart loses a write', { losesAtRestart: true }, /after restart/],
    ['a request has another outcome', { refusesEqual: true }, /refused/],
  ])('rejects when %s', async (_, faults, named) => {
    const failure = await run(faults).catch(({ cause }) => cause.message);
    expect(failure).toMatch(named);
  });
});
