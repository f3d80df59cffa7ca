/** The world outside the platform: those who write decisions, and the receiver of the webhooks. */
import { Pool } from 'undici';
import { playPart } from '../platform/worker.ts';
import { sinceWriting } from './commit-latency.ts';
import { DECISION } from './decision-body.ts';
import { measureLimit } from './direct-writes.ts';
import type { Latency, Rate } from './latency.ts';
import {
  type ClosedLoad,
  type Exchange,
  loadClosed,
  loadOpen,
  type OpenLoad,
  warmUp,
} from './load-patterns.ts';
import { type Receiver, startReceiver } from './webhook-receiver.ts';

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

/** `sinceCommitMs` is from a decision's commit to the first byte at the receiver. */
type OpenFromCommit = OpenLoad & { sinceCommitMs: Latency };

type Open = Parameters<typeof loadOpen>[1];

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

  open: ({ of, ...load }: Of & Open): Promise<OpenLoad> => loadOpen(exchangeOf(of), load),

  /** The same, with the time from the commit, which the decisions service's database has. */
  async openFromCommit({ url, ...load }: { url: string } & Open): Promise<OpenFromCommit> {
    const arrivals = new Map<string, number>();
    const exchange = exchangeOf({ writer: 'told', ending: 'webhook' }, arrivals);
    const open = await loadOpen(exchange, load);
    const measured = Math.round((load.perSecond * load.measureMs) / 1_000);
    return { ...open, sinceCommitMs: await sinceWriting(url, measured, arrivals) };
  },

  /** The rate of the next `count` webhooks without the first `skip`, once the last one has come. */
  receive({ count, skip }: { count: number; skip: number }): Promise<number> {
    if (receiver === undefined) throw new Error('nobody listens');
    return receiver.rate(count, skip);
  },
};

export type OutsidePart = typeof functions;

/**
 * Each exchange writes the next decision, going round the writer's applications. `arrivals` notes when
 * its webhook came, by its mark.
 */
function exchangeOf({ writer: name, ending }: Exchanges, arrivals?: Map<string, number>): Exchange {
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
    if (arrival === undefined) return answeredMs;
    const arrivedMs = await arrival;
    arrivals?.set(mark, arrivedMs);
    return arrivedMs;
  };
}

playPart(functions, () => receiver?.close());
