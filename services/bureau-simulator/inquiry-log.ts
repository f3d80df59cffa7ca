/** The hard inquiries that the simulator has received, the latest of them. */
import type { Source } from './personas/inquiry.ts';

export interface LoggedInquiry {
  source: Source;
  lastName: string;
  /** ISO 8601, in UTC. */
  receivedAt: string;
}

/** Limits the memory: a later inquiry displaces the oldest. */
const MAX_INQUIRIES = 10_000;
/** Of a last name; longer ones are cut. */
const MAX_NAME_CHARACTERS = 200;

export class InquiryLog {
  readonly #inquiries: LoggedInquiry[] = [];

  add(source: Source, lastName: string): void {
    this.#inquiries.push({
      source,
      lastName: lastName.slice(0, MAX_NAME_CHARACTERS),
      receivedAt: new Date().toISOString(),
    });
    if (this.#inquiries.length > MAX_INQUIRIES) this.#inquiries.shift();
  }

  /** Oldest first. */
  all(): readonly LoggedInquiry[] {
    return this.#inquiries;
  }
}
