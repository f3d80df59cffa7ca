/** Who may call a method: the access option of its proto, compared with the caller's identity. */
import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { type Access, access, Caller } from '@creditlane/proto/common/v1/access';
import { type Fault, forbidden } from '../fault.ts';
import type { Identity } from '../identity.ts';

/**
 * The access option of a method. A method without the option admits no caller. Throws an Error for one that admits
 * platform keys without a permission: every platform key could call it.
 */
export function accessOptionOf(method: DescMethod): Access {
  const option = getOption(method, access);
  if (option.callers.includes(Caller.PLATFORM) && option.permission === '') {
    throw new Error(`${method} admits platform keys without a permission`);
  }
  return option;
}

/** A `forbidden` Fault when this caller may not call the method; otherwise undefined. */
export function findAccessFault(
  { callers, peers, permission }: Access,
  { kind, subject, permissions }: Identity,
): Fault | undefined {
  const admitted =
    (kind === 'integration' && callers.includes(Caller.INTEGRATION)) ||
    (kind === 'platform' && callers.includes(Caller.PLATFORM)) ||
    (kind === 'service' && peers.includes(subject));
  if (!admitted) return forbidden('caller_not_allowed', 'this caller may not call this method');
  if (permission !== '' && !permissions.includes(permission)) {
    return forbidden('permission_missing', `the method requires the permission ${permission}`);
  }
  return undefined;
}
