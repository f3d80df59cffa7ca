/** The load generator: a worker that records decisions over HTTP and receives the webhooks. */
import { Pool } from 'undici';
import { serveParent } from '../platform/worker.ts';
import { DECISION } from './decision-body.ts';
import { type DirectWriteOptions, measureDirectWrites } from './direct-writes.ts';
import type { Rate } from './latency.ts';
import {
  type ClosedLoad,
  type ClosedLoadOptions,
  type FixedRateLoad,
  type FixedRateOptions,
  NotKeptUpError,
  type Operation,
  runAtFixedRate,
  runClosedLoad,
  runWarmUp,
  type WarmUpOptions,
} from './load-patterns.ts';
import { startReceiver, type WebhookReceiver } from './webhook-receiver.ts';

/** Whose decisions are recorded, and on which applications. */
export interface Writer {
  /** `platform` by default. */
  api?: keyof typeof REQUESTS;
  baseUrl: string;
  key: string;
  creditorId: string;
  applicationIds: string[];
}

/** What one operation of a load is: the writer's name, and the event that ends the operation. */
export interface OperationKind {
  writer: string;
  endsWith: 'answer' | 'webhook';
}

type Decision = Omit<typeof DECISION, 'conditions'> & { applicationId: string; conditions: string };

export const SVIX_EVENT_TYPE = 'decision.recorded';

/** How a decision is sent: to the platform as itself, to Svix as the payload of a message. */
const REQUESTS = {
  platform: (decision: Decision, creditorId: string) => ({
    path: `/applications/${decision.applicationId}/creditors/${creditorId}/decision`,
    body: decision,
  }),
  svix: (payload: Decision) => ({
    path: `/app/${payload.applicationId}/msg/`,
    body: { eventType: SVIX_EVENT_TYPE, payload },
  }),
};

interface WithKind {
  kind: OperationKind;
}

const MAX_CONNECTIONS = 512;
/** In a 429 answer: the caller has as many requests under way as the platform takes. */
const UNDER_WAY = '"too_many_under_way"';

let receiver: WebhookReceiver | undefined;
let written = 0;
const writers = new Map<string, Writer & { pool: Pool }>();

const functions = {
  /** Returns the receiver's URL. */
  async startReceiver(_: undefined): Promise<string> {
    receiver = await startReceiver();
    return receiver.url;
  },

  /** Adds a writer or replaces the one of the same name. */
  setWriter({ name, writer }: { name: string; writer: Writer }): void {
    const pool = new Pool(new URL(writer.baseUrl).origin, { connections: MAX_CONNECTIONS });
    writers.set(name, { ...writer, pool });
  },

  directWrites: (options: DirectWriteOptions): Promise<Rate> => measureDirectWrites(options),

  warmUp: ({ kind, ...load }: WithKind & WarmUpOptions): Promise<void> =>
    runWarmUp(makeOperation(kind), load),

  closedLoad: ({ kind, ...load }: WithKind & ClosedLoadOptions): Promise<ClosedLoad> =>
    runClosedLoad(makeOperation(kind), load),

  fixedRate: ({ kind, ...load }: WithKind & FixedRateOptions): Promise<FixedRateLoad> =>
    runAtFixedRate(makeOperation(kind), load),

  /** Null when the platform does not keep up with the rate. */
  async fixedRateIfKeptUp(load: WithKind & FixedRateOptions): Promise<FixedRateLoad | null> {
    try {
      return await functions.fixedRate(load);
    } catch (error) {
      if (error instanceof NotKeptUpError) return null;
      throw error;
    }
  },

  /** The rate of the next `count` webhooks; resolves when the last has arrived. */
  receiveRate(count: number): Promise<number> {
    if (receiver === undefined) throw new Error('the receiver has not been started');
    return receiver.measureRate(count);
  },
};

export type LoadWorker = typeof functions;

/** Each operation records one decision, on the writer's applications one after the other. */
function makeOperation({ writer: name, endsWith }: OperationKind): Operation {
  const writer = writers.get(name);
  if (writer === undefined) throw new Error(`there is no writer ${name}`);
  const { api = 'platform', pool, key, creditorId, applicationIds, baseUrl } = writer;
  const { pathname } = new URL(baseUrl);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

  return async () => {
    written += 1;
    const applicationId = applicationIds[written % applicationIds.length] as string;
    const marker = String(written);
    const conditions = `${marker} ${DECISION.conditions}`;
    const arrival = endsWith === 'webhook' ? receiver?.waitFor(marker) : undefined;
    const request = REQUESTS[api]({ ...DECISION, applicationId, conditions }, creditorId);
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: pathname + request.path,
      headers,
      body: JSON.stringify(request.body),
    });
    if (statusCode >= 300) {
      const answer = `answered ${statusCode}: ${await body.text()}`;
      throw answer.includes(UNDER_WAY) ? new NotKeptUpError(answer) : new Error(answer);
    }
    await body.dump();
    return arrival ?? performance.now();
  };
}

serveParent(functions, () => receiver?.close());
