/**
 * Adds a retry token to calls that change something, so that the method recognises a repeated call and
 * processes it once.
 */
import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { honours_call_id, honours_idempotency_key } from '@creditlane/proto/common/v1/idempotency';
import { newId } from '@creditlane/runtime/ids';
import { IDEMPOTENCY_KEY, RETRY_TOKEN } from '../call.ts';

export type CallWithRetryToken = {
  /** The header of every attempt, with the retry token. */
  header: Readonly<Record<string, string>>;
  /** Whether the method may process the call twice without harm. */
  isRepeatable: boolean;
  /** Whether the retry token is an idempotency key that the caller did not send. */
  hasGeneratedKey: boolean;
};

/**
 * The metadata in which a method takes its retry token. An `idempotent` method needs none; an
 * `unprotected` one recognises no repeated call.
 */
type TokenPlace = 'idempotent' | 'unprotected' | typeof RETRY_TOKEN | typeof IDEMPOTENCY_KEY;

/** Reading the options of a method takes longer than this lookup. */
const tokenPlaces = new WeakMap<DescMethod, TokenPlace>();

/** The header of a call with a retry token, unless the caller sent an idempotency key. */
export function addRetryToken(
  method: DescMethod,
  header: Readonly<Record<string, string>>,
): CallWithRetryToken {
  let place = tokenPlaces.get(method);
  if (place === undefined) {
    place = tokenPlaceOf(method);
    tokenPlaces.set(method, place);
  }
  if (place === 'idempotent' || place === 'unprotected') {
    return { header, isRepeatable: place === 'idempotent', hasGeneratedKey: false };
  }
  if (header[IDEMPOTENCY_KEY] !== undefined) {
    return { header, isRepeatable: true, hasGeneratedKey: false };
  }
  return {
    header: { ...header, [place]: newId() },
    isRepeatable: true,
    hasGeneratedKey: place === IDEMPOTENCY_KEY,
  };
}

function tokenPlaceOf(method: DescMethod): TokenPlace {
  if (method.idempotency !== IdempotencyLevel.IDEMPOTENCY_UNKNOWN) return 'idempotent';
  if (!getOption(method, honours_idempotency_key)) return 'unprotected';
  return getOption(method, honours_call_id) ? RETRY_TOKEN : IDEMPOTENCY_KEY;
}
