import { cpuMsOf, expectAtMost, mediansInTurns } from '@creditlane/runtime/test-measures';
import { afterAll, test } from 'vitest';
import { startTestGateway } from './test-gateway.ts';

/** Reading the header took five times as long as the rest of the request, the client's part included. */
const MAX_RATIO = 3;
const REQUESTS = 60;

const gateway = await startTestGateway();
afterAll(gateway.close);

test('an error for an Accept of 15 KB that is slow to read costs about as much as without one', async () => {
  const askWith = (accept: string) =>
    cpuMsOf(async () => {
      for (let count = 0; count < REQUESTS; count += 1) {
        await gateway.send('GET', '/v1/nothing', { headers: { accept } });
      }
    });
  const problem = 'application/problem+json';
  const { ordinary, hostile } = await mediansInTurns(
    {
      ordinary: () => askWith(problem),
      hostile: () => askWith(`${problem};x="${';'.repeat(15_000)}"`),
    },
    5,
  );
  expectAtMost(MAX_RATIO, 'CPU of an Accept of 15 KB, as a multiple', hostile / ordinary);
});
