/** The rules for submitting an application to creditors. */
import { create } from '@bufbuild/protobuf';
import { WorksheetSchema } from '@creditlane/proto/applications/v1/application';
import type { SubmitApplicationRequest } from '@creditlane/proto/applications/v1/applications_service';
import { fieldFault } from '@creditlane/rpc/fault';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import { MUST_NAME_USER } from '@creditlane/rpc/submission';
import { mayActFor, type Retailer, type RetailerUser } from '../directory/user.ts';
import { applicantErased, applicationArchived } from '../faults.ts';
import { checkWorksheet } from './worksheet.ts';

/** The stored data that the rules for a submission need, read while the application is locked. */
export interface SubmissionFacts {
  archived: boolean;
  retailer: Retailer;
  applicantIds: readonly string[];
  hasErasedApplicant: boolean;
  user: RetailerUser | undefined;
  knownCreditorIds: ReadonlySet<string>;
  submittedCreditorIds: ReadonlySet<string>;
}

/** An answer between services takes as many with the longest worksheets: see MAX_ANSWER_BYTES in libs/rpc/server-options.ts. */
const MAX_CREDITORS = 25;

/**
 * Refuses the whole submission if one of its creditors is unknown or has the application already: the
 * second worksheet for that creditor would otherwise be dropped silently. A caller that lost an answer
 * can repeat the request with its idempotency key.
 *
 * @throws Fault `invalid_submission`, `application_archived`, `applicant_erased`, `creditor_not_found`,
 * `already_submitted` or `too_many_creditors`
 */
export function checkSubmission(request: SubmitApplicationRequest, facts: SubmissionFacts): void {
  const faults = new FieldFaults();
  checkWorksheet(request.worksheet ?? create(WorksheetSchema), '/worksheet', faults);
  checkConsents(request, facts.applicantIds, faults);
  if (!mayActFor(facts.user, facts.retailer)) faults.add('/submittedByUserId', MUST_NAME_USER);
  faults.throwIfAny('invalid_submission');

  if (facts.archived) throw applicationArchived();
  if (facts.hasErasedApplicant) throw applicantErased();
  for (const [index, creditorId] of request.creditorIds.entries()) {
    const pointer = `/creditorIds/${index}`;
    if (!facts.knownCreditorIds.has(creditorId)) {
      const message = 'names no creditor';
      throw fieldFault('not_found', 'creditor_not_found', { pointer, message });
    }
    if (facts.submittedCreditorIds.has(creditorId)) {
      const message = 'names a creditor that has the application already';
      throw fieldFault('conflict', 'already_submitted', { pointer, message });
    }
  }
  const left = MAX_CREDITORS - facts.submittedCreditorIds.size;
  if (request.creditorIds.length > left) {
    const pointer = '/creditorIds';
    const message = `must have at most ${Math.max(0, left)}: an application can be submitted to ${MAX_CREDITORS} creditors`;
    throw fieldFault('conflict', 'too_many_creditors', { pointer, message });
  }
}

// A consent is explicit and personal: exactly one for each applicant, and none for any other person.
function checkConsents(
  request: SubmitApplicationRequest,
  applicantIds: readonly string[],
  faults: FieldFaults,
): void {
  const missing = new Set(applicantIds);
  for (const [index, consent] of request.consents.entries()) {
    if (!missing.delete(consent.applicantId)) {
      const message = 'must name an applicant of the application that no other consent names';
      faults.add(`/consents/${index}/applicantId`, message);
    } else if (!consent.creditConsent) {
      const message = 'must be true: without the consent the application cannot be submitted';
      faults.add(`/consents/${index}/creditConsent`, message);
    }
    if (consent.textVersion !== '')
      faults.checkName(`/consents/${index}/textVersion`, consent.textVersion);
  }
  if (missing.size > 0)
    faults.add('/consents', 'must have one consent for each applicant of the application');
}
