// What a consumer logs while the cluster refuses to let it join its group.
import { createLog } from '@creditlane/runtime/telemetry/log';
import { type Kafka, KafkaJSProtocolError } from 'kafkajs';
import { expect, test, vi } from 'vitest';
import { KafkaConsumer } from './consumer.ts';

const LOADING = { type: 'GROUP_LOAD_IN_PROGRESS', code: 14, retriable: true };
const UNKNOWN_TOPIC = { type: 'UNKNOWN_TOPIC_OR_PARTITION', code: 3, retriable: true };

/** A client whose consumer is refused with the error for the first `refusals` times, and then joins. */
function clientThatRefuses(error: object, refusals: number): Kafka {
  let joins = 0;
  const refusal = Object.assign(new Error('refused'), { name: KafkaJSProtocolError.name }, error);
  const noop = async () => undefined;
  const consumer = () => ({
    on: () => undefined,
    connect: noop,
    subscribe: noop,
    disconnect: noop,
    run: async () => {
      joins += 1;
      if (joins <= refusals) throw refusal;
    },
  });
  return { consumer } as unknown as Kafka;
}

/** The levels of what a consumer logs until it has joined its group. */
async function levelsWith(error: object, refusals: number): Promise<string[]> {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const client = clientThatRefuses(error, refusals);
  const consumer = new KafkaConsumer({
    client,
    group: 'decisions',
    topics: ['creditlane.applications.v1'],
    prefix: '',
    sessionTimeoutMs: 6_000,
    metadataMaxAgeMs: 10_000,
    handle: async () => undefined,
    log: createLog('test', { level: 'debug', destination: { write } }),
    onCrash: (error) => expect.unreachable(error.message),
  });
  await vi.waitUntil(() => lines.length >= refusals, { timeout: 15_000 });
  await consumer.close();
  return lines.map((line) => (JSON.parse(line) as { level: string }).level);
}

test('a new cluster whose coordinator is loading causes no warning', async () => {
  expect(await levelsWith(LOADING, 2)).toEqual(['debug', 'debug']);
});

test('another refusal is a warning', async () => {
  expect(await levelsWith(UNKNOWN_TOPIC, 1)).toEqual(['warn']);
});
