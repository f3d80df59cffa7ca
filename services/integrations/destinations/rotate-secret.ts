/** Rotates the signing secret of an integration's webhook destination. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { UnknownKeyError } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedAnswers } from '@creditlane/idempotency/sealed-answers';
import { recordAct } from '@creditlane/platform-acts/platform-acts';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Queryable } from '@creditlane/postgres/statement';
import {
  type RotateSecretRequest,
  type RotateSecretResponse,
  RotateSecretResponseSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import { conflict, notFound } from '@creditlane/rpc/fault';
import type { Clock } from '@creditlane/runtime/clock';
import { integrationRecords } from '../integration.ts';
import {
  insertPreviousSecret,
  limitPreviousSecrets,
  lockSecret,
  replaceSecret,
} from '../store/previous-secrets.ts';
import { sealedPreviousSecrets, sealedSecrets } from '../store/sealed-tables.ts';
import { makeSigningSecret, openSecret } from './destination.ts';

/** Each earlier secret adds 48 bytes to the header of every webhook. */
const MAX_PREVIOUS_SECRETS = 3;
const HOUR_MS = 3_600_000;

export interface RotateSecretDeps {
  requests: RequestPool;
  answers: SealedAnswers;
  /** Opens the secret that is replaced, and seals both. */
  keyRing: KeyRing;
  clock: Clock;
  newId: () => string;
}

/**
 * Resolves to the new secret, which is stored sealed: with its destination, and for a day in the stored
 * answer, so that a request repeated with its idempotency key gets the same secret.
 *
 * @throws Fault `integration_not_found`, `destination_not_found`, `too_many_secrets`, or a fault of the
 *   idempotency key
 */
export async function rotateSecret(
  { requests, answers, keyRing, clock, newId }: RotateSecretDeps,
  { integrationId, overlapHours }: RotateSecretRequest,
  call: Call,
): Promise<RotateSecretResponse> {
  const db = await integrationRecords(requests, call, integrationId);
  const secret = makeSigningSecret();
  const now = clock();
  const signsUntil = new Date(now.getTime() + overlapHours * HOUR_MS);

  let left: Date[] = [];
  const write = async (tx: Queryable) => {
    const current = await lockSecret(tx, integrationId);
    if (!current) {
      throw notFound('destination_not_found', 'The integration has no webhook destination.');
    }
    const { destinationId } = current;
    const currentContext = sealedSecrets.context(destinationId, integrationId);
    const replaced = openSecret(keyRing, current.sealed, currentContext);
    // The secret is not lost while its key is missing, because the file of the ring may get that key later: the rotation fails.
    if (replaced instanceof UnknownKeyError) throw replaced;
    // A secret that cannot be opened signs nothing any more: the new one replaces it without an overlap.
    if (replaced instanceof Buffer) {
      const id = newId();
      const previous = sealedPreviousSecrets.seal(keyRing, replaced, id, integrationId);
      const row = { id, destinationId, integrationId, replacedAt: now, signsUntil };
      await insertPreviousSecret(tx, { ...row, ...previous });
    }
    left = await limitPreviousSecrets(tx, destinationId, signsUntil, now);
    const sealed = sealedSecrets.seal(keyRing, secret.bytes, destinationId, integrationId);
    await replaceSecret(tx, destinationId, sealed);
    await recordAct(tx, call, 'SECRET_ROTATED', { integrationId });
    const overlapEndsMs = Math.max(now.getTime(), ...left.map((end) => end.getTime()));
    return {
      secret: secret.text,
      overlapEndsAt: timestampFromDate(new Date(overlapEndsMs)),
    };
  };
  // Runs once the answer is stored: the write of a duplicate request counts the secret of the first, too.
  const requireFew = () => {
    if (left.length <= MAX_PREVIOUS_SECRETS) return;
    throw conflict(
      'too_many_secrets',
      `${MAX_PREVIOUS_SECRETS} earlier secrets still sign: repeat when the first has ended, or with overlapHours 0.`,
    );
  };
  return answers.writeThenStore(db, call, RotateSecretResponseSchema, write, requireFew);
}
