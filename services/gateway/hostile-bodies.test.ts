// Bodies made to be expensive: no request may occupy the gateway's thread for long, whatever its body holds.
import { newId } from '@creditlane/runtime/ids';
import { seededRandom } from '@creditlane/runtime/test-seeded-random';
import { afterAll, describe, expect, test } from 'vitest';
import { type JsonObject, openApiDocument } from './document/openapi-document.ts';
import { type Operation, operationsOf } from './document/operation.ts';
import { compileValidators } from './document/validation.ts';
import { parseJsonText } from './http/json-text.ts';
import { startTestGateway } from './test-gateway.ts';
import { type HostileBody, hostileBodies } from './test-hostile-bodies.ts';

/** Of more than 12,000 bodies; a change of the limits or of validation is worth a run with all of them. */
const SENT = 200;
const SEED = 20_260_331;
const MAX_CPU_MS = 50;
const TRIES = 4;

const document = openApiDocument();
const operations = operationsOf(document);
const validators = compileValidators(document, operations);
const gateway = await startTestGateway();
afterAll(gateway.close);

interface Case {
  operation: Operation;
  body: HostileBody;
}

/** All cases, in an order that the seed gives. */
function allCases(): Case[] {
  const random = seededRandom(SEED);
  return operations
    .flatMap((operation) => {
      const path = document.paths[operation.route.replace('/v1', '')];
      const { requestBody } = path?.[operation.method] ?? {};
      const schema = requestBody?.content['application/json']?.schema ?? ({} as JsonObject);
      return hostileBodies(document, schema).map((body) => ({ operation, body }));
    })
    .map((it) => ({ it, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ it }) => it);
}

/** The CPU time of this thread, in which the gateway and the services run. */
async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** The lowest of several tries: the others include the collection of older garbage. */
async function lowestCpuMs(work: () => unknown, enoughMs: number): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && lowest > enoughMs; attempt += 1) {
    lowest = Math.min(lowest, await cpuMs(work));
  }
  return lowest;
}

const cases = allCases();
const nameOf = ({ operation, body }: Case) => `seed ${SEED}: ${operation.id}, ${body.what}`;
const textOf = ({ operation, body }: Case, share = 1) =>
  body.text(Math.floor(operation.bodyLimits.maxBytes * share));

async function send({ operation: { method, route, access } }: Case, text: string) {
  const ids: Record<string, string> = {
    applicationId: gateway.ids.application,
    creditorId: gateway.ids.creditor,
  };
  const path = route.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? newId());
  const key = access.caller === 'platform' ? gateway.platformKey : gateway.key;
  return gateway.send(method.toUpperCase(), path, { key, body: text });
}

describe('hostile bodies', { timeout: 600_000 }, () => {
  test('none occupies the thread for 50 ms, or is answered with an internal error', async () => {
    const slow: string[] = [];
    // fetch sends no body with GET.
    const sent = cases.filter(({ operation }) => operation.method !== 'get').slice(0, SENT);
    for (const it of sent) {
      const text = textOf(it);
      const lowest = await lowestCpuMs(async () => {
        const answer = await send(it, text);
        expect(answer.status, nameOf(it)).toBeLessThan(500);
      }, MAX_CPU_MS);
      if (lowest > MAX_CPU_MS) slow.push(`${nameOf(it)}: ${lowest.toFixed(0)} ms`);
    }
    expect(slow).toEqual([]);
  });

  test('an eight times larger body takes no more than twenty times as long to check', async () => {
    const check = ({ operation }: Case, text: string) => {
      try {
        validators.get(operation.id)?.body(parseJsonText(text, operation.bodyLimits));
      } catch {
        // Most of the bodies are refused.
      }
    };
    const worse: string[] = [];
    for (const it of cases.slice(0, SENT)) {
      const [small, large] = [textOf(it, 1 / 8), textOf(it)];
      // Below 3 ms, the clock and the garbage collection are most of what is measured.
      const smallMs = Math.max(3, await lowestCpuMs(() => check(it, small), 0));
      const largeMs = await lowestCpuMs(() => check(it, large), 20 * smallMs);
      if (largeMs > 20 * smallMs) worse.push(`${nameOf(it)}: ${smallMs} ms, ${largeMs} ms`);
    }
    expect(worse).toEqual([]);
  });
});
