/** What is kept of an answer for those who ask for it again with their idempotency key. */
import { createHmac } from 'node:crypto';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Idempotency } from '@creditlane/idempotency/stored-answers';
import { type Application, ApplicationSchema } from '@creditlane/proto/applications/v1/application';
import type { CallIdempotency } from '@creditlane/rpc/call';

/**
 * An answer's outline: the application's id and status and its creditors, and nothing of its
 * applicants, of whom no copy is to lie beside the sealed one.
 */
export function answerOutline(
  application: Pick<Application, 'applicationId' | 'status'>,
  creditorIds: readonly string[] = [],
): Uint8Array {
  const { applicationId, status } = application;
  const submissions = creditorIds.map((creditorId) => ({ creditorId }));
  return toBinary(
    ApplicationSchema,
    create(ApplicationSchema, { applicationId, status, submissions }),
  );
}

/** The application that an outline is of. */
export function outlinedId(outline: Uint8Array): string {
  return fromBinary(ApplicationSchema, outline).applicationId;
}

/** Brings an application back to where its outline was taken, whatever has happened to it since. */
export function asOutlined(application: Application, outline: Uint8Array): Application {
  const { status, submissions } = fromBinary(ApplicationSchema, outline);
  const creditorIds = new Set(submissions.map(({ creditorId }) => creditorId));
  return create(ApplicationSchema, {
    ...application,
    status,
    submissions: application.submissions.filter(({ creditorId }) => creditorIds.has(creditorId)),
  });
}

/**
 * A call's idempotency with its request's digest under a key. A bare digest of a request that is
 * known but for a nine-digit number gives the number away to whoever tries them all.
 */
export function keyedIdempotency(
  idempotency: CallIdempotency | undefined,
  digestKey: Uint8Array,
): Idempotency | undefined {
  if (!idempotency) return undefined;
  const { requestDigest } = idempotency;
  const keyed = createHmac('sha256', digestKey).update(requestDigest).digest();
  return { ...idempotency, requestDigest: keyed };
}
