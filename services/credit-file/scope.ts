/** The one retailer that a call may act for, and the fault for the applicants of others. */
import type { Call } from '@creditlane/rpc/call';
import { type Fault, notFound } from '@creditlane/rpc/fault';

/** Names an applicant of an application. */
export interface ApplicantRef {
  applicationId: string;
  applicantId: string;
}

/** A call that concerns one applicant, and the retailer in its scope. */
export interface ApplicantCall {
  applicant: ApplicantRef;
  retailerId: string;
  call: Call;
}

/**
 * The call, with the applicant that its request names. Throws the fault `applicant_not_found` for a call
 * without a retailer in its scope, which sees no applicant.
 */
export function applicantCall(
  { applicationId, applicantId }: ApplicantRef,
  call: Call,
): ApplicantCall {
  const { retailerId } = call.identity;
  if (retailerId === undefined) throw applicantNotFound();
  return {
    applicant: { applicationId, applicantId },
    retailerId,
    call,
  };
}

/** The same fault for another retailer's applicant and for one that does not exist. */
export function applicantNotFound(): Fault {
  return notFound(
    'applicant_not_found',
    'No application within your grants has this id and this applicant.',
  );
}
