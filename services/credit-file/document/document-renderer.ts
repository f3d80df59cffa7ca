/** Renders credit files as PDFs in threads of their own, so that a long file does not hold up other calls. */
import { notFound, unavailable } from '@creditlane/rpc/fault';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { Piscina } from 'piscina';
import type { CreditFile } from '../credit-file.ts';

/** Limits that no operator tunes; tests set others. */
interface RendererLimits {
  threads: number;
  /** Files that wait for a thread. */
  queued: number;
  /** From the request to the document, the wait in the queue included. */
  timeLimitMs: number;
  /** The most bytes of a document. */
  maxBytes: number;
}

/**
 * A file of 200 trades takes 0.4 s of CPU in a thread that has rendered before, and 1 s in a new one, so the
 * last of the queue waits some 5 s. An answer between services has 5 MiB at most.
 */
const LIMITS: RendererLimits = {
  threads: 2,
  queued: 20,
  timeLimitMs: 10_000,
  maxBytes: 4_000_000,
};
const THREAD = {
  /** A thread ends when no document was asked for in this time. */
  idleTimeout: 30_000,
  /**
   * A thread that renders 200 trades again and again takes 110 MB; without the limit of young objects it
   * takes 220 MB, and a fifth less CPU.
   */
  resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 },
};

type Outcome = 'rendered' | 'queue_full' | 'timed_out' | 'cancelled' | 'too_large' | 'failed';

export class DocumentRenderer {
  readonly #pool;
  readonly #limits;
  readonly #durations;

  constructor({ log, metrics }: { log: Log; metrics: Metrics }, limits: RendererLimits = LIMITS) {
    this.#limits = limits;
    this.#pool = new Piscina<CreditFile, Uint8Array>({
      // What a thread runs for each document. It keeps nothing of the file.
      filename: new URL('./draw-credit-file.ts', import.meta.url).href,
      name: 'drawCreditFile' satisfies keyof typeof import('./draw-credit-file.ts'),
      // A thread that renders documents needs nothing of the environment, which holds the service's secrets.
      env: {},
      minThreads: 0,
      maxThreads: limits.threads,
      maxQueue: limits.queued,
      ...THREAD,
    });
    // Without a listener, a thread that fails between two documents would end the process.
    this.#pool.on('error', (err) => log.warn({ err }, 'a thread that renders documents failed'));
    this.#durations = metrics.histogram(
      'credit_file_document_seconds',
      'From the request for the PDF of a credit file to its end, by outcome.',
      ['outcome'],
    );
  }

  /**
   * The PDF of a file, in the file's language. A document that the signal aborts, or whose time limit passes, leaves the
   * queue or ends its thread.
   * @throws {Fault} `unavailable` when too many documents wait or the time limit passes; `document_too_large`; the
   * signal's reason
   */
  async render(file: CreditFile, caller?: AbortSignal): Promise<Uint8Array> {
    const end = this.#durations.startTimer();
    if (this.#pool.queueSize >= this.#limits.queued) {
      end({ outcome: 'queue_full' satisfies Outcome });
      throw unavailable('too many documents are being made at the moment');
    }
    const timeLimit = AbortSignal.timeout(this.#limits.timeLimitMs);
    const signal = caller === undefined ? timeLimit : AbortSignal.any([timeLimit, caller]);
    let pdf: Uint8Array;
    try {
      pdf = await this.#pool.run(file, { signal });
    } catch (error) {
      end({ outcome: outcomeOfFailure(timeLimit, caller) });
      caller?.throwIfAborted();
      if (timeLimit.aborted) throw unavailable('the document took too long to make', 5, error);
      throw error;
    }
    const isTooLarge = pdf.byteLength > this.#limits.maxBytes;
    end({ outcome: (isTooLarge ? 'too_large' : 'rendered') satisfies Outcome });
    if (!isTooLarge) return pdf;
    throw notFound(
      'document_too_large',
      'The document is too large. Read the credit file instead.',
    );
  }

  /** Ends the threads. A document that is being rendered is lost. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

function outcomeOfFailure(timeLimit: AbortSignal, caller: AbortSignal | undefined): Outcome {
  if (caller?.aborted) return 'cancelled';
  return timeLimit.aborted ? 'timed_out' : 'failed';
}
