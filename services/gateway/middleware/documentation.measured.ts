import { cpuMsOf, expectAtMost, mediansInTurns } from '@creditlane/runtime/test-measures';
import { afterAll, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

/** Reading and hashing 4.4 MB takes more than ten times as long as the rest of the request. */
const MAX_RATIO = 4;
const REQUESTS = 100;

const gateway = await startTestGateway();
afterAll(gateway.close);

test('a request for the largest file takes about the CPU time of one for the smallest', async () => {
  const askFor = (name: string) =>
    cpuMsOf(async () => {
      for (let count = 0; count < REQUESTS; count += 1) {
        await gateway.send('HEAD', `/docs/${name}`, { key: '' });
      }
    });
  const { smallest, largest } = await mediansInTurns(
    { smallest: () => askFor('start.js'), largest: () => askFor('scalar.js') },
    5,
  );
  expectAtMost(MAX_RATIO, 'CPU of the largest file, as a multiple', largest / smallest);
});
