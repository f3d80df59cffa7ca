/** The rules about webhooks: which ones the receiver gets, in which order, and how often. */
import {
  type Crash,
  type History,
  isAccepted,
  type OverdueAttempt,
  type WebhookRequest,
} from './history.ts';
import { makeViolation, type Rule, type Violation } from './violation.ts';

/** D1: every stored decision that sends a webhook was accepted by the receiver at least once. */
export const findLostWebhooks: Rule = ({ writes, decisions, webhooks }) => {
  const accepted = new Set(webhooks.filter(isAccepted).map(({ marker }) => marker));
  const writesByMarker = new Map(writes.map((write) => [write.marker, write]));
  return decisions
    .filter(({ marker }) => writesByMarker.get(marker)?.webhookPath && !accepted.has(marker))
    .map((row) => makeViolation('lost', 'the receiver never accepted the webhook of this', row));
};

/** D4: first attempts arrive in the order of the decisions, with rising sequence numbers. */
export const findReorderedWebhooks: Rule = ({ decisions, webhooks }) => {
  const positions = new Map(decisions.map(({ marker }, position) => [marker, position]));
  let previous: WebhookRequest | undefined;
  return firstAttempts(webhooks).flatMap((webhook) => {
    const before = previous;
    previous = webhook;
    if (before === undefined) return [];
    const position = positions.get(webhook.marker);
    const positionBefore = positions.get(before.marker);
    const isInOrder =
      position === undefined || positionBefore === undefined || position >= positionBefore;
    if (isInOrder && webhook.sequence >= before.sequence) return [];
    return [makeViolation('reordered', 'two webhooks arrived in the wrong order', before, webhook)];
  });
};

/** D4: the sequence numbers of the received webhooks are 1, 2, 3 … */
export const findWebhookGaps: Rule = ({ webhooks }) => {
  const sequences = [...new Set(webhooks.map(({ sequence }) => sequence))].sort((a, b) => a - b);
  const wrong = sequences.find((sequence, index) => sequence !== index + 1);
  return webhooks
    .filter(({ sequence }) => sequence === wrong)
    .slice(0, 1)
    .map((webhook) =>
      makeViolation('gap', 'this sequence number does not follow its predecessor', webhook),
    );
};

/** D5: all attempts of a delivery have the same id, sequence number and body. */
export const findChangedAttempts: Rule = ({ webhooks }) => {
  const byId = Map.groupBy(webhooks, ({ webhookId }) => webhookId).values();
  const bySequence = Map.groupBy(webhooks, ({ marker, sequence }) => `${marker} ${sequence}`);
  return [
    ...[...byId]
      .filter((its) => new Set(its.map((it) => `${it.sequence} ${it.bodyHash}`)).size > 1)
      .map((its) => makeViolation('changed', 'attempts with one webhook-id differ', ...its)),
    ...[...bySequence.values()]
      .filter((its) => new Set(its.map(({ webhookId }) => webhookId)).size > 1)
      .map((its) => makeViolation('changed', 'one delivery has several webhook-ids', ...its)),
  ];
};

/** D5: both signatures verify. */
export const findInvalidSignatures: Rule = ({ webhooks }) =>
  webhooks
    .filter(({ signed }) => !signed)
    .map((webhook) => makeViolation('forged', 'a signature does not verify', webhook));

/** D7: a webhook has the path that belongs to its decision. */
export const findWrongWebhookPaths: Rule = ({ writes, webhooks }) => {
  const writesByMarker = new Map(writes.map((write) => [write.marker, write]));
  return webhooks.flatMap((webhook) => {
    const write = writesByMarker.get(webhook.marker);
    return write === undefined || write.webhookPath === webhook.path
      ? []
      : [
          makeViolation(
            'divergent',
            'the webhook has the path of another decision',
            webhook,
            write,
          ),
        ];
  });
};

/**
 * D6: an accepted webhook is sent again only while its success was not recorded, and only for a reason: the dispatcher's
 * deadline passed before it had read the answer, or a crash, which explains as many as requests were under way in it. Checks
 * a whole history.
 */
export function findResentWebhooks(history: History): Violation[] {
  const { webhooks, deliveries, crashes } = history;
  const recordedAtMs = new Map<string, number>();
  for (const { webhookId, atMs } of deliveries) {
    recordedAtMs.set(webhookId, Math.min(atMs, recordedAtMs.get(webhookId) ?? atMs));
  }
  const unexplained = new Set(history.overdueAttempts);
  const acceptedById = new Map<string, WebhookRequest[]>();
  const resentByCrash = new Map<Crash, number>();
  return webhooks.flatMap((webhook) => {
    const accepted = acceptedById.get(webhook.webhookId) ?? [];
    const [first] = accepted;
    if (isAccepted(webhook)) acceptedById.set(webhook.webhookId, [...accepted, webhook]);
    if (first === undefined) return [];
    const recordedMs = recordedAtMs.get(webhook.webhookId) ?? Number.POSITIVE_INFINITY;
    if (recordedMs < webhook.atMs) {
      return [makeViolation('resent', 'sent again after its success was recorded', first, webhook)];
    }
    const overdue = [...unexplained].find((it) => accepted.some((request) => isOf(it, request)));
    if (overdue !== undefined) {
      unexplained.delete(overdue);
      return [];
    }
    const crash = crashes.find((it) => first.atMs <= it.untilMs && webhook.atMs >= it.fromMs);
    if (crash === undefined) {
      return [makeViolation('resent', 'sent again without a crash in between', first, webhook)];
    }
    const count = (resentByCrash.get(crash) ?? 0) + 1;
    resentByCrash.set(crash, count);
    if (count <= crash.maxInFlight) return [];
    const message = `more webhooks sent again than the ${crash.maxInFlight} under way in the crash`;
    return [makeViolation('resent', message, crash, first, webhook)];
  });
}

/** Whether the request was that of the attempt. */
function isOf({ webhookId, fromMs, untilMs }: OverdueAttempt, request: WebhookRequest): boolean {
  return request.webhookId === webhookId && fromMs <= request.atMs && request.atMs <= untilMs;
}

/** The first attempt of each delivery, in the order of arrival. */
function firstAttempts(webhooks: WebhookRequest[]): WebhookRequest[] {
  const seen = new Set<string>();
  return webhooks.filter(({ webhookId }) => {
    const isFirst = !seen.has(webhookId);
    seen.add(webhookId);
    return isFirst;
  });
}
