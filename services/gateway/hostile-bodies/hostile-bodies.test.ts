// Bodies made to be expensive: each is refused or accepted. How much CPU time they take is measured beside.
import { afterAll, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';
import { nameOf, sendHostile, sentHostileCases, textOf } from './test-hostile-cases.ts';

const gateway = await startTestGateway();
afterAll(gateway.close);

test('no hostile body is answered with an internal error', async () => {
  for (const it of sentHostileCases()) {
    const answer = await sendHostile(gateway, it, textOf(it));
    expect(answer.status, nameOf(it)).toBeLessThan(500);
  }
});
