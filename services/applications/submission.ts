import { create } from '@bufbuild/protobuf';
import { WorksheetSchema } from '@creditlane/proto/applications/v1/application';
import type { SubmitApplicationRequest } from '@creditlane/proto/applications/v1/applications_service';
import { conflict, notFound } from '@creditlane/rpc/fault';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import { mayActFor, type Retailer, type RetailerUser } from './user.ts';
import { checkWorksheet } from './worksheet.ts';

/** What a submission is judged against, as it stands under the application's lock. */
export interface SubmissionFacts {
  archived: boolean;
  retailer: Retailer;
  applicantIds: readonly string[];
  user: RetailerUser | undefined;
  knownCreditorIds: ReadonlySet<string>;
  submittedCreditorIds: ReadonlySet<string>;
}

/**
 * Judges a submission: all of its creditors, or none. A creditor that has the application already
 * refuses the whole of it, for a second worksheet would else be dropped without a word; a caller that
 * repeats a request whose answer got lost has the idempotency key for it.
 *
 * @throws Fault that says why it may not be made
 */
export function checkSubmission(request: SubmitApplicationRequest, facts: SubmissionFacts): void {
  const faults = new FieldFaults();
  checkWorksheet(request.worksheet ?? create(WorksheetSchema), '/worksheet', faults);
  checkConsents(request, facts.applicantIds, faults);
  if (!facts.user || !mayActFor(facts.user, facts.retailer)) {
    faults.add('/submittedByUserId', "must name an active user of the application's retailer");
  }
  faults.throwIfAny('invalid_submission');

  if (facts.archived) throw conflict('application_archived', 'The application is archived.');
  for (const [index, creditorId] of request.creditorIds.entries()) {
    if (!facts.knownCreditorIds.has(creditorId)) {
      throw notFound('creditor_not_found', `/creditorIds/${index} names no creditor.`);
    }
    if (facts.submittedCreditorIds.has(creditorId)) {
      const message = `/creditorIds/${index} names a creditor that has the application already.`;
      throw conflict('already_submitted', message);
    }
  }
}

// A consent is explicit and personal: one for every applicant, and none for anybody else.
function checkConsents(
  request: SubmitApplicationRequest,
  applicantIds: readonly string[],
  faults: FieldFaults,
): void {
  const missing = new Set(applicantIds);
  for (const [index, consent] of request.consents.entries()) {
    if (!missing.delete(consent.applicantId)) {
      faults.add(`/consents/${index}/applicantId`, 'must name each applicant of it once');
    } else if (!consent.creditConsent) {
      faults.add(`/consents/${index}/creditConsent`, 'must be true');
    }
  }
  if (missing.size > 0) faults.add('/consents', 'must hold one for each applicant');
}
