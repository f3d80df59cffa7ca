/**
 * The beginning of a receiver's answer to a failed attempt or to a test event, sealed for the owner of the destination: a
 * receiver may repeat what it got, or put secrets of its own there.
 *
 * The key is derived from the destination's signing secret, which the dispatcher gets for each request and never stores. So
 * it needs no key ring, and an answer can be read as long as that secret signs: neither after the overlap of its
 * rotation, nor once the destination was removed.
 */
import type { KeyObject } from 'node:crypto';
import { DataKey } from '@creditlane/crypto/data-key';
import { type SealContext, SealError } from '@creditlane/crypto/envelope';
import { isSuccessStatus, type KeptAnswerBytes } from '../egress/exchange.ts';
import type { WebhookEventType } from '../events/webhook-event-type.ts';
import type { PostedWebhook } from './post-webhook.ts';

/** Of the body of a receiver's answer. */
export const KEPT_ANSWER_BYTES = 2_048;
const PURPOSE = 'creditlane answers to webhooks';

const ofFailures: KeptAnswerBytes = (status) => (isSuccessStatus(status) ? 0 : KEPT_ANSWER_BYTES);

/** How much is kept of the answers to a webhook: nothing where its body is not stored, because a receiver may repeat it. */
export const keptAnswerBytesOf = ({
  rendering,
}: Pick<WebhookEventType, 'rendering'>): KeptAnswerBytes | undefined =>
  rendering.at === 'intake' ? ofFailures : undefined;

/** Seals the beginning of an answer by the newest of the destination's secrets, for this place; undefined without a secret. */
export function sealAnswer(
  answer: string,
  place: SealContext,
  [newest]: readonly KeyObject[],
): Buffer | undefined {
  return newest && DataKey.derive(newest, PURPOSE).seal(Buffer.from(answer), place);
}

/** The answer in the clear; undefined when its secret is none of the destination's live ones any more. */
export function openAnswer(
  sealed: Uint8Array,
  place: SealContext,
  secrets: readonly KeyObject[],
): string | undefined {
  for (const secret of secrets) {
    try {
      return DataKey.derive(secret, PURPOSE).unseal(sealed, place).toString();
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
    }
  }
  return undefined;
}

/** The attempt that an answer belongs to; a delivery has one attempt at a time. */
export interface AnsweredAttempt {
  readonly deliveryId: string;
  readonly destinationId: string;
  readonly startedAt: Date;
}

/** Where the answer to an attempt is stored. */
export const placeOfAttempt = (attempt: AnsweredAttempt): SealContext => ({
  table: 'attempt_answers',
  column: 'sealed',
  row: `${attempt.deliveryId} ${attempt.startedAt.toISOString()}`,
  tenant: attempt.destinationId,
});

/** The posted webhook with the answer's beginning, if it is kept, sealed instead of in the clear. */
export function withSealedAnswer(
  posted: PostedWebhook,
  delivery: Pick<AnsweredAttempt, 'deliveryId' | 'destinationId'>,
  secrets: readonly KeyObject[],
): PostedWebhook & { readonly sealedAnswer?: Buffer } {
  const { outcome, startedAt } = posted;
  if (outcome.kind === 'failed' || outcome.bodyStart === undefined) return posted;
  const { bodyStart, ...rest } = outcome;
  const sealedAnswer = sealAnswer(bodyStart, placeOfAttempt({ ...delivery, startedAt }), secrets);
  return { ...posted, outcome: rest, ...(sealedAnswer && { sealedAnswer }) };
}
