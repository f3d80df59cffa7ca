// What the access rule of an operation says about each caller.
import type { MatrixOperation } from './matrix-operation.ts';

/** A caller of the matrix: whose key it sends, and what it may do. */
export interface MatrixCaller {
  name: string;
  /** Null sends no key. */
  key: string | null;
  kind: 'integration' | 'platform';
  /** The code of the 401 for a key that authenticates nobody. */
  rejected?: 'key_missing' | 'key_rejected';
  permissions: readonly string[];
  grants: { retailer: boolean; creditor: boolean; disabled: boolean };
  /** Whether the records of the integration itself, such as its deliveries, are the caller's. */
  isOwner: boolean;
  /** Whether the ids of the other tenant are the caller's own. */
  isOtherTenant?: true;
}

/** Admitted: success. Missing: the answer for ids that do not exist. Refused: whatever the ids. */
export type Expectation =
  | { kind: 'admitted' | 'missing' | 'denied' }
  | { kind: 'refused'; status: number; code: string };

/**
 * The answer to a request whose ids are those of the own tenant. `inContext`: the request names the tenant's
 * retailer in X-Service-Retailer-ID.
 */
export function expectationOf(
  { access, places }: MatrixOperation,
  caller: MatrixCaller,
  inContext: boolean,
): Expectation {
  const { kind, rejected, permissions, grants } = caller;
  if (rejected !== undefined) return { kind: 'refused', status: 401, code: rejected };
  if (kind !== access.caller)
    return { kind: 'refused', status: 401, code: 'key_kind_not_accepted' };
  if (access.permission !== undefined && !permissions.includes(access.permission)) {
    return { kind: 'refused', status: 403, code: 'permission_missing' };
  }
  if (kind === 'platform') return { kind: 'admitted' };
  const sides = access.side ?? [];
  if (sides.length === 0) {
    const namesRecord = places.some((place) => place.sent);
    return { kind: caller.isOwner || !namesRecord ? 'admitted' : 'missing' };
  }
  const onCreditorSide = grants.creditor && (!grants.disabled || access.whileDisabled === true);
  const hasAccess =
    (sides.includes('retailer') && grants.retailer) ||
    (sides.includes('creditor') && onCreditorSide);
  if (hasAccess && (!inContext || grants.retailer)) return { kind: 'admitted' };
  return { kind: access.forbidsDeniedRetailer ? 'denied' : 'missing' };
}
