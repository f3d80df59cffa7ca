/** The bounds of the terms that a worksheet proposes and a decision sets. */
import type { FieldFaults } from './field-faults.ts';

/** A field that is undefined is not set. */
interface LoanTerms {
  readonly firstPaymentDate?: string | undefined;
  readonly deliveryDate?: string | undefined;
  /** Per cent per year. */
  readonly interestRate?: number | undefined;
  /** Months. */
  readonly term?: number | undefined;
}

/** Other years are typing errors. */
const YEARS = [2000, 2100] as const;
const MAX_RATE = 100;
const MAX_MONTHS = 600;

/** Adds the terms that only a mistake can be to the faults, by pointers that begin with `at`. */
export function checkTerms(terms: LoanTerms, at: string, faults: FieldFaults): void {
  for (const name of ['firstPaymentDate', 'deliveryDate'] as const) {
    const date = terms[name];
    if (date !== undefined) faults.checkDate(`${at}/${name}`, date, YEARS);
  }
  faults.checkRange(`${at}/interestRate`, terms.interestRate, 0, MAX_RATE);
  faults.checkRange(`${at}/term`, terms.term, 1, MAX_MONTHS);
}
