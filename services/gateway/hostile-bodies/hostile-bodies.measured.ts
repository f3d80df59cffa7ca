// Bodies made to be expensive: no request may occupy the gateway's thread for long, whatever its body holds.
import { expectAtMost, mediansInTurns, threadCpuMsOf } from '@creditlane/runtime/test-measures';
import { afterAll, test } from 'vitest';
import { compileValidators } from '../document/validation.ts';
import { parseJsonText } from '../http/json-text.ts';
import { startTestGateway } from '../test-gateway.ts';
import {
  document,
  type HostileCase,
  nameOf,
  operations,
  sendHostile,
  sentHostileCases,
  someHostileCases,
  textOf,
} from './test-hostile-cases.ts';

const MAX_CPU_MS = 50;
/** Of the time to check a body when it is eight times larger. */
const MAX_GROWTH = 20;
/** Below it, the clock and the garbage collection are most of what is measured. */
const CPU_RESOLUTION_MS = 3;
const ROUNDS = 3;

const validators = compileValidators(document, operations);
const gateway = await startTestGateway();
afterAll(gateway.close);

/** The case in which the measure is greatest. */
async function findWorst(
  cases: readonly HostileCase[],
  measure: (it: HostileCase) => Promise<number>,
): Promise<{ name: string; value: number }> {
  let worst = { name: '', value: 0 };
  for (const it of cases) {
    const value = await measure(it);
    if (value > worst.value) worst = { name: nameOf(it), value };
  }
  return worst;
}

test('no hostile body occupies the thread for 50 ms', async () => {
  const { name, value } = await findWorst(sentHostileCases(), async (it) => {
    const text = textOf(it);
    const send = () => threadCpuMsOf(() => sendHostile(gateway, it, text));
    return (await mediansInTurns({ send }, ROUNDS)).send;
  });
  expectAtMost(MAX_CPU_MS, `CPU ms of the most expensive hostile body (${name})`, value);
});

test('an eight times larger hostile body takes no more than twenty times as long to check', async () => {
  const check = ({ operation }: HostileCase, text: string) => {
    try {
      validators.get(operation.id)?.body(parseJsonText(text, operation.bodyLimits));
    } catch {
      // Most of the bodies are refused.
    }
  };
  const { name, value } = await findWorst(someHostileCases(), async (it) => {
    const [smallText, largeText] = [textOf(it, 1 / 8), textOf(it)];
    const { small, large } = await mediansInTurns(
      {
        small: () => threadCpuMsOf(() => check(it, smallText)),
        large: () => threadCpuMsOf(() => check(it, largeText)),
      },
      ROUNDS,
    );
    return large / Math.max(CPU_RESOLUTION_MS, small);
  });
  expectAtMost(
    MAX_GROWTH,
    `CPU of a hostile body eight times larger, as a multiple (${name})`,
    value,
  );
});
