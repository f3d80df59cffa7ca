/** Decides who may do what: the one place that turns a caller and a request into an identity. */
import type { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import type { AccessService } from '@creditlane/proto/integrations/v1/integrations_service';
import type { Client } from '@creditlane/rpc/client';
import { forbidden, unauthenticated } from '@creditlane/rpc/fault';
import { type Identity, serviceIdentity } from '@creditlane/rpc/identity';
import type { CallLimits } from './call-limits.ts';
import type { Caller } from './callers.ts';
import { FreshCache } from './fresh-cache.ts';
import type { AccessRule } from './operation.ts';

/** The records that a request names, all ids in lower case. */
export interface Target {
  readonly applicationId: string | undefined;
  readonly creditorId: string | undefined;
  /** Of a record that is to be made. */
  readonly retailerId: string | undefined;
  /** What X-Service-Retailer-ID says. */
  readonly retailerContext: string | undefined;
}

type Scope = Pick<Identity, 'retailerId' | 'creditorId'>;

export interface AccessPeers {
  readonly access: Client<typeof AccessService>;
  readonly applications: Client<typeof ApplicationsService>;
}

const GATEWAY = serviceIdentity('gateway');
const NOTHING: Scope = Object.freeze({});
const CACHED_SCOPES = 50_000;

export class Access {
  readonly #peers: AccessPeers;
  readonly #scopes: FreshCache<Scope>;

  /** What a caller may act for is remembered for `cacheMs`. */
  constructor(peers: AccessPeers, { cacheMs }: { cacheMs: number }) {
    this.#peers = peers;
    this.#scopes = new FreshCache({ ttlMs: cacheMs, max: CACHED_SCOPES });
  }

  /**
   * Refuses a caller to whom the whole operation is closed, whatever it asks for: with an
   * `unauthenticated` Fault where the key is of the other kind, as for any key that the operation
   * does not take, and with a `forbidden` one where a permission is missing.
   */
  admit(caller: Caller, rule: AccessRule): void {
    if (caller.kind !== rule.caller) {
      const message = `this operation takes ${rule.caller === 'platform' ? 'a platform' : "an integration's"} key`;
      throw unauthenticated('key_kind_not_accepted', message);
    }
    if (rule.permission !== undefined && !caller.permissions.includes(rule.permission)) {
      throw forbidden(
        'permission_missing',
        `this operation needs the permission ${rule.permission}`,
      );
    }
  }

  /**
   * The identity in which an admitted caller's request goes on to the services. It names the one
   * creditor or retailer that the caller may act for here, and neither where it holds no grant: the
   * services then find nothing, so a foreign record and a missing one get the same answer.
   */
  async identity(
    caller: Caller,
    rule: AccessRule,
    target: Target,
    limits: CallLimits,
  ): Promise<Identity> {
    const { id: subject, kind, permissions } = caller;
    if (rule.sides.length === 0) return { kind, subject, permissions };
    const relevant = relevantTo(rule, target);
    const key = [subject, ...rule.sides, ...Object.values(relevant)].join(' ');
    const scope = await this.#scopes.get(key, () => this.#scope(subject, rule, relevant, limits));
    return { kind, subject, permissions, ...scope };
  }

  /**
   * Every request of one operation takes the same calls, whether the record is the caller's, another's
   * or nobody's: that is why the application's retailer, which never changes, is not remembered
   * across callers. A warm answer for another tenant's application would tell that it exists.
   */
  async #scope(
    integrationId: string,
    { sides }: AccessRule,
    { applicationId, creditorId, retailerId, retailerContext }: Target,
    limits: CallLimits,
  ): Promise<Scope> {
    const context = { ...limits, identity: GATEWAY };
    const byRetailer = sides.includes('retailer');
    let owner = retailerContext ?? retailerId;
    let ownerInContext = true;
    if (applicationId !== undefined && (byRetailer || retailerContext !== undefined)) {
      const asked = { applicationId, contextRetailerId: retailerContext ?? '' };
      const located = await this.#peers.applications.locateApplication(asked, context);
      owner = located.retailerId || undefined;
      ownerInContext = located.inContext;
    }
    const grants = await this.#peers.access.checkGrants(
      {
        integrationId,
        // Nobody's application is asked for under its own id, which is no retailer's.
        retailerId: retailerContext ?? owner ?? (byRetailer ? (applicationId ?? '') : ''),
        creditorId: sides.includes('creditor') ? (creditorId ?? '') : '',
      },
      context,
    );
    // Named, the context must be granted itself, and have access to what is its group's.
    if (retailerContext !== undefined && !(grants.retailer && ownerInContext)) return NOTHING;
    if (sides.includes('creditor') && grants.creditor && creditorId !== undefined) {
      return { creditorId };
    }
    if (byRetailer && grants.retailer && owner !== undefined) return { retailerId: owner };
    return NOTHING;
  }
}

/**
 * What of the target a caller's scope depends on. A creditor's side is the same for every application,
 * unless the caller says for which retailer it acts; so one answer serves all that a creditor decides.
 */
function relevantTo({ sides }: AccessRule, target: Target): Target {
  if (sides.includes('retailer') || target.retailerContext !== undefined) return target;
  const { creditorId, retailerContext } = target;
  return { applicationId: undefined, creditorId, retailerId: undefined, retailerContext };
}
