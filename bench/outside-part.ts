/** The world outside the platform: those who write decisions, and the receiver of the webhooks. */
import { Pool } from 'undici';
import { playPart } from './child.ts';
import { DECISION } from './decision.ts';
import type { Rate } from './figures.ts';
import { measureLimit } from './limit.ts';
import {
  type ClosedLoad,
  type Exchange,
  loadClosed,
  loadOpen,
  type OpenLoad,
  warmUp,
} from './load.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** Who writes decisions, and on what. */
export interface Writer {
  baseUrl: string;
  key: string;
  creditorId: string;
  applicationIds: string[];
}

/** Whose decisions are written, and when such an exchange has ended: with the answer or the webhook. */
export interface Exchanges {
  writer: string;
  ending: 'answer' | 'webhook';
}

interface Of {
  of: Exchanges;
}

const MAX_CONNECTIONS = 512;

let receiver: Receiver | undefined;
let written = 0;
const writers = new Map<string, Writer & { pool: Pool }>();

const functions = {
  async listen(_: undefined): Promise<string> {
    receiver = await startReceiver();
    return receiver.url;
  },

  /** Makes a writer known under a name. */
  introduce({ name, writer }: { name: string; writer: Writer }): void {
    const pool = new Pool(new URL(writer.baseUrl).origin, { connections: MAX_CONNECTIONS });
    writers.set(name, { ...writer, pool });
  },

  limit: (options: Parameters<typeof measureLimit>[0]): Promise<Rate> => measureLimit(options),

  warmUp: ({ of, ...load }: Of & Parameters<typeof warmUp>[1]): Promise<void> =>
    warmUp(exchangeOf(of), load),

  closed: ({ of, ...load }: Of & Parameters<typeof loadClosed>[1]): Promise<ClosedLoad> =>
    loadClosed(exchangeOf(of), load),

  open: ({ of, ...load }: Of & Parameters<typeof loadOpen>[1]): Promise<OpenLoad> =>
    loadOpen(exchangeOf(of), load),

  /** Resolves when so many more webhooks have come. */
  async receive(count: number): Promise<void> {
    await receiver?.next(count);
  },
};

export type OutsidePart = typeof functions;

/** Each exchange writes the next decision, going round the writer's applications. */
function exchangeOf({ writer: name, ending }: Exchanges): Exchange {
  const writer = writers.get(name);
  if (writer === undefined) throw new Error(`nobody introduced ${name}`);
  const { pool, key, creditorId, applicationIds, baseUrl } = writer;
  const { pathname } = new URL(baseUrl);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

  return async () => {
    written += 1;
    const applicationId = applicationIds[written % applicationIds.length];
    const mark = String(written);
    const conditions = `${mark} ${DECISION.conditions}`;
    const arrival = ending === 'webhook' ? receiver?.arrival(mark) : undefined;
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: `${pathname}/applications/${applicationId}/creditors/${creditorId}/decision`,
      headers,
      body: JSON.stringify({ ...DECISION, applicationId, conditions }),
    });
    if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${await body.text()}`);
    await body.dump();
    const answeredMs = performance.now();
    return (await arrival) ?? answeredMs;
  };
}

playPart(functions, () => receiver?.close());
