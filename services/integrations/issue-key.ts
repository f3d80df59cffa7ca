import { digestApiKey, generateApiKey } from '@creditlane/crypto/api-key';
import {
  type IssueKeyRequest,
  type IssueKeyResponse,
  IssueKeyResponseSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import type { RpcDeps } from './rpc.ts';

/**
 * Makes a key and keeps its digest. A call repeated under its idempotency key gets the same key again:
 * for that day, and only then, the answer is kept, sealed.
 */
export function issueKey(
  { store, answers, clock, newId }: RpcDeps,
  { integrationId, live }: IssueKeyRequest,
  call: Call,
): Promise<IssueKeyResponse> {
  const answer = { keyId: newId(), key: generateApiKey(live) };
  const row = {
    id: answer.keyId,
    integrationId,
    digest: digestApiKey(answer.key),
    createdAt: clock(),
    revokedAt: null,
  };
  return answers.once(call, IssueKeyResponseSchema, answer, (tx) => store.addKey(tx, row));
}
