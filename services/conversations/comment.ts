/** The rules for comments: which submission takes a comment, of which author, with which text. */
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { type Fault, invalid, invalidFields, notFound } from '@creditlane/rpc/fault';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import type { Scope } from '@creditlane/rpc/identity';
import {
  applicationNotFound,
  MUST_NAME_USER,
  type SubmissionKey,
  submissionNotFound,
} from '@creditlane/rpc/submission';

/** The parties of a submission. */
export type Side = 'CREDITOR' | 'RETAILER';

/** A submission as the applications service knows it at the time of a comment. */
export interface SubmissionState {
  /** Undefined when the application does not exist. */
  retailerId: string | undefined;
  applicationStatus: ApplicationStatus;
  /** Whether the application was submitted to the creditor. */
  submitted: boolean;
  /** The name of the author on the retailer's side; undefined when the author is not eligible. */
  authorName: string | undefined;
}

/**
 * Refuses a text that no reader could see.
 *
 * @param userName the name of the creditor's user; undefined on the retailer's side
 * @throws Fault `invalid_comment`, which names every refused field by its JSON pointer
 */
export function checkContent(comment: string, userName?: string): void {
  const faults = new FieldFaults();
  if (userName !== undefined) {
    faults.checkName('/userName', userName);
  }
  faults.checkNotBlank('/comment', comment);
  faults.throwIfAny('invalid_comment');
}

/** The side for which a call may act on a submission of this retailer; undefined for neither. */
export function sideOf(
  { creditorId }: SubmissionKey,
  retailerId: string,
  scope: Scope,
): Side | undefined {
  if (scope.creditorId === creditorId) return 'CREDITOR';
  return scope.retailerId === retailerId ? 'RETAILER' : undefined;
}

/**
 * Refuses a creditor's comment on an application that it does not have, or that is archived.
 *
 * @returns the application's retailer
 * @throws Fault `submission_not_found` or `application_archived`
 */
export function checkCreditorComment({
  retailerId,
  submitted,
  applicationStatus,
}: SubmissionState): string {
  if (!submitted || retailerId === undefined) throw submissionNotFound();
  if (applicationStatus === ApplicationStatus.ARCHIVED) throw archived();
  return retailerId;
}

/**
 * Refuses a comment of a retailer's user. The state of the application is checked before the creditor, so
 * that an application which takes no comment of anyone gives one answer for every creditor.
 *
 * @returns the application's retailer, and the author's name
 * @throws Fault `application_not_found`, `application_archived`, `application_not_submitted`,
 * `conversation_not_found` or `ineligible_user`
 */
export function checkRetailerComment(
  { retailerId, applicationStatus, submitted, authorName }: SubmissionState,
  scope: Scope,
): { retailerId: string; authorName: string } {
  if (retailerId === undefined || retailerId !== scope.retailerId) {
    throw applicationNotFound();
  }
  if (applicationStatus === ApplicationStatus.ARCHIVED) throw archived();
  if (applicationStatus !== ApplicationStatus.SUBMITTED) {
    const message = 'The application was not submitted to the creditor, nor to any other.';
    throw invalid('application_not_submitted', message);
  }
  if (!submitted) throw conversationNotFound();
  if (authorName === undefined) {
    throw invalidFields('ineligible_user', [{ pointer: '/userId', message: MUST_NAME_USER }]);
  }
  return { retailerId, authorName };
}

/** The same fault for another tenant's conversation as for none at all. */
export function conversationNotFound(): Fault {
  return notFound('conversation_not_found', 'There is no such conversation.');
}

function archived(): Fault {
  return invalid('application_archived', 'The application is archived and takes no comments.');
}
