/** The rules for the decisions that a creditor may record. Any value may follow any earlier value. */
import { type Decision, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import { checkTerms } from '@creditlane/rpc/loan-terms';

/** Values that only the platform sets: every submission starts with AWAITING_DECISION. */
const PLATFORM_VALUES = new Set([DecisionValue.AWAITING_DECISION, DecisionValue.DRAFT]);

/**
 * Refuses a decision that a creditor cannot record. The message has passed the constraints of its
 * proto; these are the rules that a proto cannot express.
 *
 * @throws Fault `invalid_decision`, which names every refused field by its JSON pointer in the request
 */
export function checkDecision(decision: Decision): void {
  const faults = new FieldFaults();
  if (PLATFORM_VALUES.has(decision.decision)) {
    faults.add('/decision/decision', `${DecisionValue[decision.decision]} cannot be written`);
  }
  checkTerms(decision, '/decision', faults);
  faults.checkPrintable('/decision/program', decision.program ?? '');
  faults.checkPrintable('/decision/tier', decision.tier ?? '');
  faults.checkStorable('/decision/conditions', decision.conditions ?? '');
  faults.throwIfAny('invalid_decision');
}
