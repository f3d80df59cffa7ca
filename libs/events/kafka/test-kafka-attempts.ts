/** For tests: what a client with the given credentials, or with none, achieves in a cluster. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { withTimeLimit } from '@creditlane/runtime/concurrency/time-limit';
import { silentLog } from '@creditlane/runtime/test-log';
import type { Kafka } from 'kafkajs';
import type { KafkaConfig } from '../kafka-config.ts';
import { type EventMessage, toMessage } from '../message.ts';
import type { Topic } from '../topics.ts';
import { createClient } from './client.ts';

/** For each attempt `done`, or the names of the errors that refused it. */
export interface Attempts {
  publish: string;
  /** Undefined without a group. */
  consume: string | undefined;
  /** The topics that the client sees, or the names of the errors. */
  list: string[] | string;
}

const LIMIT_MS = 15_000;

/** Publishes the messages, consumes one message of their topic as `group` if one is given, and lists all topics. */
export async function attemptAll(
  config: KafkaConfig,
  { messages, group }: { messages: EventMessage[]; group?: string },
): Promise<Attempts> {
  const client = createClient(config, silentLog);
  const [topic = ''] = messages.map((message) => message.topic);
  return {
    publish: await outcomeOf(publish(client, topic, messages)),
    consume: group && (await outcomeOf(consumeOne(client, topic, group))),
    list: await listTopics(client).catch(namesOf),
  };
}

/** A booking that nobody decided, as a publisher of the topic could write it. */
export function forgeBooking(ids: {
  applicationId: string;
  creditorId: string;
  retailerId: string;
}): EventMessage {
  const time = new Date();
  const terms = {
    firstPaymentDate: '2026-04-01',
    frequency: 'PAYMENT_FREQUENCY_MONTHLY',
    interestRate: 6.99,
  };
  const { applicationId, creditorId, retailerId } = ids;
  return toMessage(
    {
      id: crypto.randomUUID(),
      topic: 'creditlane.decisions.v1' satisfies Topic,
      key: applicationId,
      type: 'creditlane.decisions.v1.DecisionRecorded',
      payload: {
        applicationId,
        creditorId,
        retailerId,
        sequence: '1000',
        recordedAt: time.toISOString(),
        decision: { decision: 'DECISION_VALUE_BOOKED' },
        terms,
        worksheet: terms,
      },
      time,
    },
    'decisions',
  );
}

/**
 * Asks a controller, without credentials, to check the creation of a topic. Resolves to the error code of
 * its answer, 0 for none, or to `closed` when it closes the connection instead.
 */
export async function askController(port: number): Promise<number | 'closed'> {
  const text = (value: string) => Buffer.concat([int(2, value.length), Buffer.from(value)]);
  const topic = [text('intruder'), int(4, 1), int(2, 1), int(4, 0), int(4, 0)];
  // CreateTopics, version 4: header, one topic, a time limit, and that the topic is only to be checked.
  const request = Buffer.concat([
    ...[int(2, 19), int(2, 4), int(4, 7), text('intruder')],
    ...[int(4, 1), ...topic, int(4, 5_000), int(1, 1)],
  ]);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(Buffer.concat([int(4, request.length), request]));
  const answered = once(socket, 'data').then(([answer]) => errorCodeOf(answer));
  const closed = once(socket, 'close').then(() => 'closed' as const);
  try {
    return await Promise.race([answered, closed]);
  } finally {
    socket.destroy();
  }
}

/**
 * Connects to a broker or controller, and announces a request of so many bytes of which nothing follows.
 * Resolves to the connection.
 */
export async function announceRequest(port: number, bytes: number, from?: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', ...(from && { localAddress: from }) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(int(4, bytes));
  return socket;
}

/** After the length, the correlation id, the throttle time, the number of topics and the topic's name. */
function errorCodeOf(answer: Buffer): number {
  const nameLength = answer.readInt16BE(16);
  return answer.readInt16BE(18 + nameLength);
}

function int(bytes: number, value: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
}

async function publish(client: Kafka, topic: string, messages: EventMessage[]): Promise<void> {
  const producer = client.producer({ allowAutoTopicCreation: false, retry: { retries: 0 } });
  try {
    await producer.connect();
    await producer.send({
      topic,
      messages: messages.map(({ key, headers, value }) => {
        return { key, headers, value: Buffer.from(value) };
      }),
    });
  } finally {
    await producer.disconnect();
  }
}

async function consumeOne(client: Kafka, topic: string, group: string): Promise<void> {
  const retry = { retries: 0, restartOnFailure: async () => false };
  const consumer = client.consumer({ groupId: group, allowAutoTopicCreation: false, retry });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({ autoCommit: false, eachMessage: async () => resolve() });
    await promise;
  } finally {
    await consumer.disconnect();
  }
}

async function listTopics(client: Kafka): Promise<string[]> {
  const admin = client.admin({ retry: { retries: 0 } });
  try {
    await admin.connect();
    return (await admin.listTopics()).toSorted();
  } finally {
    await admin.disconnect();
  }
}

async function outcomeOf(attempt: Promise<void>): Promise<string> {
  const makeError = () => new Error(`neither done nor refused within ${LIMIT_MS} ms`);
  try {
    await withTimeLimit(attempt, { limitMs: LIMIT_MS, makeError });
    return 'done';
  } catch (error) {
    return namesOf(error);
  }
}

/** The names of an error and its causes, with Kafka's own name for the answer of a broker. */
function namesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { type } = error as { type?: string };
  const own = type ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? own : `${own} < ${namesOf(error.cause)}`;
}
