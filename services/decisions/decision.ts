/** The rules of a decision: which ones a creditor may record, whatever was decided before. */
import { type Decision, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { FieldFaults } from '@creditlane/rpc/field-faults';

/** The platform's own values: a submission may start with one of them, and nobody writes them. */
const NOT_WRITABLE = new Set([DecisionValue.AWAITING_DECISION, DecisionValue.DRAFT]);

/**
 * Refuses a decision that cannot be recorded. The message is valid by its proto constraints
 * already; these are the rules they cannot say.
 *
 * @throws a Fault `invalid_decision` that names every refused field by its JSON pointer
 */
export function checkWritable(decision: Decision): void {
  const faults = new FieldFaults();
  if (NOT_WRITABLE.has(decision.decision)) {
    faults.add('/decision', `${DecisionValue[decision.decision]} cannot be written`);
  }
  for (const field of ['firstPaymentDate', 'deliveryDate'] as const) {
    const date = decision[field];
    if (date !== undefined) faults.checkDate(`/${field}`, date);
  }
  faults.checkPrintable('/program', decision.program ?? '');
  faults.checkPrintable('/tier', decision.tier ?? '');
  // Free text of any lines; this one character PostgreSQL cannot keep.
  if (decision.conditions?.includes('\0')) faults.add('/conditions', 'must not hold a NUL');
  faults.throwIfAny('invalid_decision');
}
