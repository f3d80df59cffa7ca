/** Asks the applications service whom an inquiry is about, and whether a consent permits it. */
import {
  type Address,
  type Applicant,
  ApplicationStatus,
} from '@creditlane/proto/applications/v1/application';
import type {
  ConsentsService,
  StoredConsent,
} from '@creditlane/proto/applications/v1/consents_service';
import type { OwnCallContext, PeerClient } from '@creditlane/rpc/peer-client';
import { parsePostalCode } from '@creditlane/runtime/postal-code';
import type { Inquiry, InquiryAddress } from '../bureaus/bureau.ts';
import { type ApplicantCall, type ApplicantRef, applicantNotFound } from '../scope.ts';
import { streetLineOf } from './street-line.ts';

/** What a consent must permit for an inquiry. */
export const PURPOSE = 'CREDIT_APPLICATION';

/** The applicant at the time of the question. */
export interface InquirySubject {
  retailerId: string;
  isArchived: boolean;
  applicant: Applicant;
  /** The consent that permits an inquiry now. */
  consent: StoredConsent | undefined;
}

/**
 * The applicant with the whole social insurance number, and of the consents that permit an inquiry that of `consentId` if it is
 * one of them; undefined when the application has no such applicant.
 * @throws Fault `unavailable` while the applications service cannot be reached
 */
export async function findInquirySubject(
  consents: PeerClient<typeof ConsentsService>,
  { applicationId, applicantId }: ApplicantRef,
  context: OwnCallContext,
  consentId = '',
): Promise<InquirySubject | undefined> {
  const { retailerId, applicationStatus, applicant, consent } = await consents.getInquirySubject(
    { applicationId, applicantId, purpose: PURPOSE, consentId },
    context,
  );
  if (applicant === undefined) return undefined;
  const isArchived = applicationStatus === ApplicationStatus[ApplicationStatus.ARCHIVED];
  return { retailerId, isArchived, applicant, consent };
}

/** Throws the fault `applicant_not_found` unless the retailer has the applicant. */
export async function requireApplicant(
  consents: PeerClient<typeof ConsentsService>,
  { applicant, retailerId, call }: ApplicantCall,
): Promise<void> {
  const subject = await findInquirySubject(consents, applicant, call);
  if (subject?.retailerId !== retailerId) throw applicantNotFound();
}

/** The current address and two former ones are as many as the bureaus' requests take. */
const MAX_ADDRESSES = 3;

/** The address that says so, or else the first one that says nothing. */
export function currentAddressOf({ addressHistory }: Applicant): Address | undefined {
  const typeOf = ({ addressType }: Address) => addressType.trim().toUpperCase();
  const ofType = (type: string) => addressHistory.find((address) => typeOf(address) === type);
  return ofType('CURRENT') ?? ofType('');
}

/** What a bureau is asked about the applicant. */
export function inquiryOf(reference: string, applicant: Applicant): Inquiry {
  const sin = applicant.sin.replaceAll(/\D/g, '');
  const occupation = applicant.employmentHistory[0]?.occupation;
  const current = currentAddressOf(applicant);
  const former = applicant.addressHistory.filter((address) => address !== current);
  const addresses = [...(current ? [current] : []), ...former];
  return {
    reference,
    subject: {
      firstName: applicant.firstName,
      lastName: applicant.lastName,
      ...(sin && { sin }),
      dateOfBirth: applicant.dateOfBirth,
      ...(occupation && { occupation }),
      addresses: addresses.slice(0, MAX_ADDRESSES).map(inquiryAddressOf),
    },
  };
}

/** A post-office box stands in the place of a street, or else beside the apartment. */
function inquiryAddressOf(address: Address): InquiryAddress {
  const street = streetLineOf(address);
  const box = address.pOBoxNumber.trim();
  const boxLine = /^\d/.test(box) ? `PO BOX ${box}` : box;
  const suite = [address.apartmentSuite.trim(), street === '' ? '' : boxLine].filter(Boolean);
  return {
    streetNo: address.streetNo,
    streetName: street === '' ? boxLine : street,
    suite: suite.join(', '),
    city: address.city,
    province: address.province,
    // What was stored before the codes had one form may be none.
    postalCode: (parsePostalCode(address.postalCode) ?? address.postalCode).replaceAll(/\s/g, ''),
  };
}
