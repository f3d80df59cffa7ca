/** Who may call a method: the proto's own access option, held against the caller's identity. */
import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { type Access, access, Caller } from '@creditlane/proto/common/v1/access';
import { type Fault, forbidden } from '../fault.ts';
import type { Identity } from '../identity.ts';

/** What the method's proto says; one that says nothing is open to nobody. */
export function accessOptionOf(method: DescMethod): Access {
  return getOption(method, access);
}

/** The refusal of this caller, or undefined where it may call. */
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
    return forbidden('permission_missing', `this needs the permission ${permission}`);
  }
  return undefined;
}
