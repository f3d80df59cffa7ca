/** The rules for a consent to an inquiry: what it must say, and how long it holds. */
import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type RecordConsentRequest,
  type StoredConsent,
  StoredConsentSchema,
} from '@creditlane/proto/applications/v1/consents_service';
import { type Fault, invalidFields, notFound } from '@creditlane/rpc/fault';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import { MUST_NAME_USER } from '@creditlane/rpc/submission';
import { mayActFor, type Retailer, type RetailerUser } from '../directory/user.ts';
import { applicantErased, applicationArchived } from '../faults.ts';

/** The text version of a consent that came with a submission which names none. */
export const UNSPECIFIED_TEXT_VERSION = 'unspecified';

/** How long a consent holds when its caller does not say, and how long it holds at most. */
const DEFAULT_YEARS = 1;
const MAX_YEARS = 2;

/** How far a caller's clock may be ahead of the platform's. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;

/** The applicant who consents, as stored, while the application is locked. */
export interface ConsentFacts {
  archived: boolean;
  /** Whether the applicant was erased. */
  erased: boolean;
  retailer: Retailer;
  /** The user whom the request names; undefined when there is no such user, or the request names none. */
  user: RetailerUser | undefined;
}

export interface RecordingFacts extends ConsentFacts {
  /** When the applicant's consents for the purpose were last revoked; undefined if never. */
  lastRevokedAt: Date | undefined;
}

/**
 * Makes the consent that a request describes.
 *
 * @throws Fault `invalid_consent`, `ineligible_user`, `application_archived` or `applicant_erased`
 */
export function newConsent(
  request: RecordConsentRequest,
  { archived, erased, retailer, user, lastRevokedAt }: RecordingFacts,
  id: string,
  now: Date,
): StoredConsent {
  const faults = new FieldFaults();
  faults.checkName('/textVersion', request.textVersion);
  const capturedAt = dateOf(request.capturedAt) ?? now;
  const expiresAt = dateOf(request.expiresAt) ?? defaultExpiry(capturedAt);
  const isExpiryGiven = request.expiresAt !== undefined;
  checkTimes({ capturedAt, expiresAt, isExpiryGiven }, now, faults);
  checkNotRevoked(dateOf(request.capturedAt), lastRevokedAt, faults);
  faults.throwIfAny('invalid_consent');

  if (!mayActFor(user, retailer)) throw ineligibleUser('/capturedBy');
  if (archived) throw applicationArchived();
  if (erased) throw applicantErased();
  return create(StoredConsentSchema, {
    id,
    applicantId: request.applicantId,
    purpose: request.purpose,
    textVersion: request.textVersion,
    documentSha256: request.documentSha256,
    capturedAt: timestampFromDate(capturedAt),
    capturedBy: request.capturedBy,
    recordedAt: timestampFromDate(now),
    expiresAt: timestampFromDate(expiresAt),
  });
}

/** When a consent ends whose caller does not say so. */
export function defaultExpiry(capturedAt: Date): Date {
  return yearsAfter(capturedAt, DEFAULT_YEARS);
}

/** The same fault for another retailer's applicant and for one that does not exist. */
export function applicantNotFound(): Fault {
  return notFound('applicant_not_found', 'There is no such applicant of this application.');
}

/** The same fault for a user of another retailer, an inactive one, and one that does not exist. */
export function ineligibleUser(pointer: string): Fault {
  return invalidFields('ineligible_user', [{ pointer, message: MUST_NAME_USER }]);
}

// A consent that has ended permits nothing, so recording it would be an error that shows only at the pull.
function checkTimes(
  times: { capturedAt: Date; expiresAt: Date; isExpiryGiven: boolean },
  now: Date,
  faults: FieldFaults,
): void {
  const { capturedAt, expiresAt, isExpiryGiven } = times;
  if (capturedAt.getTime() > now.getTime() + MAX_CLOCK_SKEW_MS) {
    faults.add('/capturedAt', 'must not be in the future');
  } else if (yearsAfter(capturedAt, MAX_YEARS) <= now) {
    faults.add('/capturedAt', `must be less than ${MAX_YEARS} years ago`);
  } else if (!isExpiryGiven && expiresAt <= now) {
    faults.add('/capturedAt', 'must be less than a year ago without expiresAt');
  }
  if (!isExpiryGiven) return;
  if (expiresAt <= now) faults.add('/expiresAt', 'must be in the future');
  else if (expiresAt <= capturedAt) faults.add('/expiresAt', 'must be after capturedAt');
  else if (expiresAt > yearsAfter(capturedAt, MAX_YEARS)) {
    faults.add('/expiresAt', `must be at most ${MAX_YEARS} years after capturedAt`);
  }
}

// What a person agreed to before the revocation is revoked, also if it is recorded later, such as one on paper.
function checkNotRevoked(
  capturedAt: Date | undefined,
  lastRevokedAt: Date | undefined,
  faults: FieldFaults,
): void {
  if (capturedAt === undefined || lastRevokedAt === undefined || capturedAt > lastRevokedAt) return;
  const at = lastRevokedAt.toISOString();
  faults.add('/capturedAt', `must be after ${at}, when the applicant's consents were revoked`);
}

function dateOf(timestamp: Timestamp | undefined): Date | undefined {
  return timestamp && timestampDate(timestamp);
}

/** The same day and time of another year; 1 March for 29 February. */
function yearsAfter(date: Date, years: number): Date {
  const later = new Date(date);
  later.setUTCFullYear(later.getUTCFullYear() + years);
  return later;
}
