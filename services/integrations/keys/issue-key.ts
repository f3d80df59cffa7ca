/** Issues an API key to an integration. */
import { digestApiKey, generateApiKey } from '@creditlane/crypto/api-key';
import type { SealedAnswers } from '@creditlane/idempotency/sealed-answers';
import { recordAct } from '@creditlane/platform-acts/platform-acts';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Queryable } from '@creditlane/postgres/statement';
import {
  type IssueKeyRequest,
  type IssueKeyResponse,
  IssueKeyResponseSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import { conflict } from '@creditlane/rpc/fault';
import type { Clock } from '@creditlane/runtime/clock';
import { integrationRecords } from '../integration.ts';
import { countUnrevokedKeys, insertKey } from '../store/keys.ts';
import { MAX_UNREVOKED_KEYS } from './key.ts';

export interface IssueKeyDeps {
  requests: RequestPool;
  answers: SealedAnswers;
  clock: Clock;
  newId: () => string;
}

/**
 * Stores the digest of a new key and resolves to the key. Only the sealed stored answer holds the key
 * itself, for a day, so that a request repeated with its idempotency key gets the same key. An integration that an
 * earlier version gave more keys than `MAX_UNREVOKED_KEYS` keeps them.
 *
 * @throws Fault `integration_not_found`, `too_many_keys`, or a fault of the idempotency key
 */
export async function issueKey(
  { requests, answers, clock, newId }: IssueKeyDeps,
  { integrationId, live }: IssueKeyRequest,
  call: Call,
): Promise<IssueKeyResponse> {
  const db = await integrationRecords(requests, call, integrationId);
  const answer = { keyId: newId(), key: generateApiKey(live) };
  const row = {
    id: answer.keyId,
    integrationId,
    digest: digestApiKey(answer.key),
    createdAt: clock(),
  };
  const write = async (tx: Queryable): Promise<void> => {
    const count = await countUnrevokedKeys(tx, integrationId, MAX_UNREVOKED_KEYS);
    if (count === MAX_UNREVOKED_KEYS) {
      const message = `The integration has ${MAX_UNREVOKED_KEYS} keys. Revoke one that it does not use.`;
      throw conflict('too_many_keys', message);
    }
    await insertKey(tx, row);
    await recordAct(tx, call, 'KEY_ISSUED', { integrationId, keyId: answer.keyId });
  };
  return answers.storeThenWrite(db, call, IssueKeyResponseSchema, answer, write);
}
