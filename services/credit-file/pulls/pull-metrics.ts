/** The metrics of pulls. Neither retailer nor applicant is a label, because their number is unbounded. */
import type { Database } from '@creditlane/postgres/database';
import { FailureReasonSchema } from '@creditlane/proto/creditfile/v1/credit_file_service';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { SOURCES, type Source, type UnknownCode } from '../bureaus/bureau.ts';
import { ageOfOldestUnfinishedS, countUnfinishedPulls } from '../store/pull-states.ts';
import type { PullRow, State } from './pull.ts';

/** Codes are the bureaus': the first so many pairs of section and code have a series of their own. */
const MAX_UNKNOWN_CODES = 500;
const MAX_LABEL_LENGTH = 60;
/** Every reason of the contract, so that none lacks its series. */
const FAILURES = FailureReasonSchema.values
  .map(({ localName }) => localName)
  .filter((name) => name !== 'UNSPECIFIED');
const ENDED = [
  { state: 'COMPLETE', failure: '' },
  { state: 'UNKNOWN', failure: '' },
  ...FAILURES.map((failure) => ({ state: 'FAILED', failure })),
];
const UNFINISHED: readonly State[] = ['REQUESTED', 'RUNNING'];

export class PullMetrics {
  readonly #ended;
  readonly #unknownCodes;
  readonly #knownSeries = new Set<string>();

  constructor(metrics: Metrics, pool: Database['pool']) {
    this.#ended = metrics.counter(
      'credit_file_pulls_total',
      'Pulls that have ended, by source, last state, and the reason of a failure.',
      ['source', 'state', 'failure'],
    );
    // Each series starts at 0, so that the rate of its first increase is known.
    for (const source of SOURCES) for (const end of ENDED) this.#ended.inc({ source, ...end }, 0);
    this.#unknownCodes = metrics.counter(
      'credit_file_unknown_codes_total',
      'Codes in the answers of bureaus that no code table has, by section and code.',
      ['source', 'section', 'code'],
    );
    metrics.gauge(
      'credit_file_unfinished_pulls',
      'Pulls that have not ended, by source and state.',
      ['source', 'state'],
      async (gauge) => {
        const rows = await countUnfinishedPulls(pool);
        for (const source of SOURCES) {
          for (const state of UNFINISHED) {
            const row = rows.find((it) => it.source === source && it.state === state);
            gauge.set({ source, state }, row?.count ?? 0);
          }
        }
      },
    );
    metrics.gauge(
      'credit_file_oldest_unfinished_pull_seconds',
      'Age of the oldest pull that has not ended; 0 without one.',
      [],
      async (gauge) => gauge.set(await ageOfOldestUnfinishedS(pool)),
    );
  }

  countEnded({ source, state, failure }: PullRow): void {
    this.#ended.inc({ source, state, failure: failure ?? '' });
  }

  countUnknownCodes(source: Source, codes: readonly UnknownCode[]): void {
    for (const { section, code } of codes) {
      const labels = { source, section: cut(section), code: cut(code) };
      const series = JSON.stringify(labels);
      const isKnown = this.#knownSeries.has(series) || this.#knownSeries.size < MAX_UNKNOWN_CODES;
      if (isKnown) this.#knownSeries.add(series);
      this.#unknownCodes.inc(isKnown ? labels : { source, section: 'other', code: 'other' });
    }
  }
}

function cut(text: string): string {
  return text.slice(0, MAX_LABEL_LENGTH);
}
