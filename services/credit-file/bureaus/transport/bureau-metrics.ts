/** The metrics of inquiries. No label names a retailer: their number is unbounded. */
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { Source } from '../bureau.ts';
import type { BreakerState } from './circuit-breaker.ts';
import type { InquiryOutcome } from './inquiry-outcome.ts';

export class BureauMetrics {
  readonly #source: Source;
  readonly #inquiries;
  readonly #duration;

  constructor(metrics: Metrics, source: Source, breakerStates: () => Iterable<BreakerState>) {
    this.#source = source;
    this.#inquiries = metrics.counter(
      'bureau_inquiries_total',
      'Inquiries to bureaus that have ended, by outcome and its reason.',
      ['source', 'outcome', 'reason'],
    );
    this.#duration = metrics.histogram(
      'bureau_inquiry_seconds',
      'Duration of inquiries to bureaus, with the waits for an access token and a connection.',
      ['source'],
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60],
    );
    metrics.gauge(
      'bureau_breakers',
      'Base URLs of bureaus, by the state of their circuit breaker in this process.',
      ['source', 'state'],
      (gauge) => {
        const counts = { closed: 0, open: 0, half_open: 0 };
        for (const state of breakerStates()) counts[state] += 1;
        for (const [state, count] of Object.entries(counts)) gauge.set({ source, state }, count);
      },
    );
  }

  observe(outcome: InquiryOutcome, durationMs: number): void {
    const source = this.#source;
    this.#inquiries.inc({ source, ...outcomeLabels(outcome) });
    this.#duration.observe({ source }, durationMs / 1_000);
  }
}

/** The outcome in words of a closed list, for labels and logs. */
export function outcomeLabels(outcome: InquiryOutcome): { outcome: string; reason: string } {
  if (outcome.kind !== 'answered') return { outcome: outcome.kind, reason: outcome.reason };
  const { answer } = outcome;
  return { outcome: answer.kind, reason: answer.kind === 'refused' ? answer.reason : '' };
}
