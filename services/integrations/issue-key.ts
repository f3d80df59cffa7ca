import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { keyDigest, makeKey } from '@creditlane/crypto/api-key';
import { open, type SealContext, seal } from '@creditlane/crypto/envelope';
import {
  type IssueKeyRequest,
  type IssueKeyResponse,
  IssueKeyResponseSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call, CallIdempotency } from '@creditlane/rpc/call';
import type { RpcDeps } from './rpc.ts';

/**
 * Makes a key and keeps its digest. A call repeated under its idempotency key gets the same key again:
 * for that day, and only then, the answer is kept, sealed.
 */
export async function issueKey(
  { store, keyRing, clock, newId }: RpcDeps,
  { integrationId, live }: IssueKeyRequest,
  call: Call,
): Promise<IssueKeyResponse> {
  const { idempotency } = call;
  const { response, replayed } = await store.answerOnce(idempotency, async () => {
    const answer = create(IssueKeyResponseSchema, { keyId: newId(), key: makeKey(live) });
    const bytes = toBinary(IssueKeyResponseSchema, answer);
    const row = {
      id: answer.keyId,
      integrationId,
      digest: keyDigest(answer.key),
      createdAt: clock(),
      revokedAt: null,
    };
    const sealed = idempotency && seal(keyRing, bytes, answerContext(idempotency));
    await store.addKey(row, idempotency && sealed && { idempotency, sealed });
    return sealed ?? bytes;
  });
  if (replayed) call.answer.replayed();
  const bytes = idempotency ? open(keyRing, response, answerContext(idempotency)) : response;
  return fromBinary(IssueKeyResponseSchema, bytes);
}

function answerContext({ callerId, key }: CallIdempotency): SealContext {
  return { table: 'idempotency', column: 'response', row: key, tenant: callerId };
}
