/** A pull of a credit file: its states, and which pull a request gets. */
import { create } from '@bufbuild/protobuf';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { StoredConsent } from '@creditlane/proto/applications/v1/consents_service';
import {
  FailureReason,
  type Pull,
  PullSchema,
  PullState,
  Source as SourceValue,
} from '@creditlane/proto/creditfile/v1/credit_file_service';
import type { Source } from '../bureaus/bureau.ts';

export type State = Exclude<keyof typeof PullState, 'UNSPECIFIED'>;
export type Failure = Exclude<keyof typeof FailureReason, 'UNSPECIFIED'>;

/** The consent that a pull is made on, as it was then. Times are those of JSON. */
export interface Consent {
  consentId: string;
  purpose: string;
  textVersion: string;
  documentSha256: string;
  capturedAt?: string;
  capturedBy: string;
  expiresAt?: string;
}

/** A pull as it is stored. */
export interface PullRow {
  id: string;
  retailerId: string;
  applicationId: string;
  applicantId: string;
  seq: number;
  source: Source;
  state: State;
  /** Only of a failed pull. */
  failure: Failure | null;
  /** The bureau's code for why it refused the inquiry; null without one. */
  bureauCode: string | null;
  forced: boolean;
  /** The caller's own id of the request; null without one. */
  callerRequestId: string | null;
  /** The applicant's data key, which seals the file. */
  keyId: string;
  /** The integration that asked. */
  requestedBy: string;
  /** The X-Request-Id of the request. */
  requestId: string;
  consent: Consent;
  requestedAt: Date;
  /** When the inquiry was sent; null if it never was. */
  sentAt: Date | null;
  finishedAt: Date | null;
}

/** The pulls of an applicant that a request may get in the place of a new one. */
export interface EarlierPulls {
  /** The pull that the caller's id of the request has led to before, of either source. */
  sameRequest: PullRow | undefined;
  /** The pull of the same source that has not ended. */
  unfinished: PullRow | undefined;
  /** The latest complete pull of the same source whose file is there. */
  latestComplete: PullRow | undefined;
}

/**
 * The pull that a request gets; undefined for a new one. A failed pull and one with an unknown outcome are never
 * repeated by themselves, and never stand in the way of a new request.
 */
export function findPullFor(
  { sameRequest, unfinished, latestComplete }: EarlierPulls,
  { force, now, minAgeMs }: { force: boolean; now: Date; minAgeMs: number },
): PullRow | undefined {
  if (sameRequest !== undefined) return sameRequest;
  if (unfinished !== undefined) return unfinished;
  if (force || latestComplete?.finishedAt == null) return undefined;
  const ageMs = now.getTime() - latestComplete.finishedAt.getTime();
  return ageMs < minAgeMs ? latestComplete : undefined;
}

export function isFinished({ state }: Pick<PullRow, 'state'>): boolean {
  return state !== 'REQUESTED' && state !== 'RUNNING';
}

export function consentOf(consent: StoredConsent): Consent {
  const { id, purpose, textVersion, documentSha256, capturedAt, capturedBy, expiresAt } = consent;
  return {
    consentId: id,
    purpose,
    textVersion,
    documentSha256,
    ...(capturedAt && { capturedAt: timestampDate(capturedAt).toISOString() }),
    capturedBy,
    ...(expiresAt && { expiresAt: timestampDate(expiresAt).toISOString() }),
  };
}

/** The source of a message. Throws an Error for a value that the contract refuses. */
export function sourceOf(value: SourceValue): Source {
  const source = SourceValue[value];
  if (source !== 'EQUIFAX' && source !== 'TRANSUNION') throw new Error('the request has no source');
  return source;
}

export function pullMessage({ id, source, state, failure, bureauCode, ...times }: PullRow): Pull {
  return create(PullSchema, {
    id,
    source: SourceValue[source],
    state: PullState[state],
    requestedAt: timestampFromDate(times.requestedAt),
    ...(times.finishedAt && { finishedAt: timestampFromDate(times.finishedAt) }),
    ...(failure && { failure: FailureReason[failure] }),
    bureauCode: bureauCode ?? '',
  });
}
