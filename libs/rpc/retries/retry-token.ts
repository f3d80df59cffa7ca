/** The name by which a method knows a call again, without which nobody may send it twice. */
import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { honours_call_id, honours_idempotency_key } from '@creditlane/proto/common/v1/idempotency';
import { newId } from '@creditlane/runtime/ids';
import { IDEMPOTENCY_KEY, RETRY_TOKEN } from '../call.ts';
import type { UnaryCall } from '../unary-transport.ts';

type Header = Parameters<UnaryCall>[3];

export type CallWithRetryToken = {
  /** With the call's name, for each attempt at it. */
  header: Header;
  /** Whether a second arrival does no harm. */
  isRepeatable: boolean;
  /** Whether it got an idempotency key of which its caller does not know. */
  hasDrawnKey: boolean;
};

/** `none` needs no name, as it is idempotent by nature; `never` knows no call again. */
type Naming = 'none' | 'never' | typeof RETRY_TOKEN | typeof IDEMPOTENCY_KEY;

/** Reading a method's options takes longer than looking up what they said. */
const namings = new WeakMap<DescMethod, Naming>();

/** A call that changes something and has no idempotency key is given a name: what its method heeds. */
export function addRetryToken(method: DescMethod, header: Header): CallWithRetryToken {
  let naming = namings.get(method);
  if (naming === undefined) {
    naming = namingOf(method);
    namings.set(method, naming);
  }
  if (naming === 'none' || naming === 'never') {
    return { header, isRepeatable: naming === 'none', hasDrawnKey: false };
  }
  // Our own client gives a plain record, which is read without making Headers of it.
  const isRecord = !(header instanceof Headers || Array.isArray(header));
  const record = isRecord ? header : Object.fromEntries(new Headers(header));
  if (record?.[IDEMPOTENCY_KEY] !== undefined) {
    return { header, isRepeatable: true, hasDrawnKey: false };
  }
  return {
    header: { ...record, [naming]: newId() },
    isRepeatable: true,
    hasDrawnKey: naming === IDEMPOTENCY_KEY,
  };
}

function namingOf(method: DescMethod): Naming {
  if (method.idempotency !== IdempotencyLevel.IDEMPOTENCY_UNKNOWN) return 'none';
  if (!getOption(method, honours_idempotency_key)) return 'never';
  return getOption(method, honours_call_id) ? RETRY_TOKEN : IDEMPOTENCY_KEY;
}
