/** Which URLs and addresses inquiries may be sent to. */
import {
  checkEgressUrl,
  EgressDeniedError,
  type EgressPolicy,
  readDestinationUrl,
} from '@creditlane/egress-rules/destination-url';
import { guardedLookup, type Resolve } from '@creditlane/egress-rules/guarded-lookup';
import { isLoopbackAddress, isPublicAddress } from '@creditlane/egress-rules/public-address';

export interface BureauHostRules extends EgressPolicy {
  /**
   * The hosts that credentials may name; any public host when empty. A host in this list may have a private
   * address, as behind a line of the operator's to the bureau.
   */
  readonly hosts: readonly string[];
}

/** Throws EgressDeniedError unless inquiries may be sent to the URL of credentials. */
export function checkBureauUrl(text: string, rules: BureauHostRules): void {
  const url = readDestinationUrl(text);
  const { hosts } = rules;
  if (hosts.length > 0 && !hosts.includes(url.hostname)) {
    throw new EgressDeniedError('host_not_listed');
  }
  checkEgressUrl(url, { ...rules, privateHosts: hosts });
}

/** A lookup that finds permitted addresses only. */
export function bureauLookup({ hosts, allowLoopback }: BureauHostRules, resolve: Resolve) {
  return guardedLookup({
    resolve,
    isAllowed: (address, hostname) =>
      hosts.includes(hostname) ||
      isPublicAddress(address) ||
      (allowLoopback && isLoopbackAddress(address)),
  });
}
