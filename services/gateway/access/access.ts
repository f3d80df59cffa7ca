/** Decides who may do what: the one place that turns a caller and a request into an identity. */
import type { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import {
  type AccessService,
  GrantSide,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { CallContext, Client } from '@creditlane/rpc/client';
import { type Fault, forbidden, invalidFields, unauthenticated } from '@creditlane/rpc/fault';
import type { Identity, Scope } from '@creditlane/rpc/identity';
import type { AccessRule } from '../document/operation.ts';
import type { AccessTarget } from '../document/operation-parts/access-target.ts';
import { type CallOptions, GATEWAY, sharedCall } from './call-options.ts';
import { type Caller, Callers } from './callers.ts';
import { cachedLookup } from './lookup-cache.ts';

export interface AccessPeers {
  readonly access: Client<typeof AccessService>;
  readonly applications: Client<typeof ApplicationsService>;
}

/** What the grants of a caller give for a request. */
interface Granted {
  readonly scope: Scope;
  /** Whether X-Service-Retailer-ID or an existing application names a retailer without a grant. */
  readonly isRetailerDenied: boolean;
}

/** What a request is about, as far as retailers are concerned. */
type Located =
  | { kind: 'unnamed' }
  | { kind: 'missing'; applicationId: string }
  /** `isInContext`: whether the retailer belongs to the group of the one that X-Service-Retailer-ID names, if any. */
  | { kind: 'retailer'; retailerId: string; isInContext: boolean };

const NO_SCOPE: Scope = Object.freeze({});
const CACHED_SCOPES = 50_000;

/** What of a rule the scope of a caller depends on. */
type ScopeRule = Pick<AccessRule, 'sides' | 'whileDisabled'>;

/** Of the operations of retailers. */
const OF_RETAILERS: ScopeRule = { sides: ['retailer'], whileDisabled: false };

interface ScopeQuestion {
  integrationId: string;
  rule: ScopeRule;
  target: AccessTarget;
  callOptions: CallOptions;
}

interface OnlyRetailerQuestion {
  integrationId: string;
  callOptions: CallOptions;
}

export class Access {
  readonly callers: Callers;
  readonly #peers: AccessPeers;
  readonly #scopes;
  readonly #onlyRetailers;

  /** Callers, the scope of each, and the only retailer granted to one, are cached for `cacheMs`. */
  constructor(peers: AccessPeers, { cacheMs }: { cacheMs: number }) {
    this.callers = new Callers(peers.access, { cacheMs });
    this.#peers = peers;
    const cache = {
      ttlMs: cacheMs,
      max: CACHED_SCOPES,
      ownerOf: ({ integrationId }: OnlyRetailerQuestion) => integrationId,
    };
    this.#scopes = cachedLookup((question: ScopeQuestion) => this.#scope(question), cache);
    this.#onlyRetailers = cachedLookup(
      (question: OnlyRetailerQuestion) => this.#onlyRetailer(question),
      cache,
    );
  }

  /** Later requests look up the keys of the integration, what it may do, and what it is granted. */
  invalidate(integrationId: string): void {
    this.callers.invalidate(integrationId);
    this.#scopes.invalidate(integrationId);
    this.#onlyRetailers.invalidate(integrationId);
  }

  /**
   * Refuses a caller to whom the whole operation is closed, whatever the request: with an
   * `unauthenticated` Fault where the key is of the other kind, as for any key that the operation
   * does not take, and with a `forbidden` one where a permission is missing.
   */
  admit(caller: Caller, rule: AccessRule): void {
    if (caller.kind !== rule.caller) {
      throw unauthenticated('key_kind_not_accepted', keyKindMessage(rule.caller));
    }
    if (rule.permission !== undefined && !caller.permissions.includes(rule.permission)) {
      throw forbidden(
        'permission_missing',
        `this operation needs the permission ${rule.permission}`,
      );
    }
  }

  /**
   * The identity in whose name the services are called for an admitted caller. The identity names the one
   * creditor or retailer that the caller may act for here, and neither without a grant: the services then
   * find nothing, so another tenant's record and a missing one get the same answer. Throws an `invalid`
   * Fault where the operation requires a retailer and the request does not tell which. An operation whose
   * description says so throws a `forbidden` Fault where a retailer is not granted. For the holder of a signed
   * link, which the service checks, the gateway calls in its own name.
   */
  async identity(
    caller: Caller,
    rule: AccessRule,
    target: AccessTarget,
    callOptions: CallOptions,
  ): Promise<Identity> {
    const { id: subject, kind, permissions } = caller;
    if (kind === 'link') return GATEWAY;
    if (rule.sides.length === 0) return { kind, subject, permissions };
    if (rule.requiresRetailer && target.retailerContext === undefined) {
      const question = { integrationId: subject, callOptions };
      const { retailerId } = await this.#onlyRetailers.find(subject, question);
      if (retailerId === undefined) throw retailerRequired();
      return { kind, subject, permissions, retailerId };
    }
    const { retailerContext } = target;
    const { scope, isRetailerDenied } = await this.#granted(subject, rule, target, callOptions);
    if (isRetailerDenied && rule.forbidsDeniedRetailer) {
      throw forbidden('retailer_access_denied', retailerDenied(retailerContext));
    }
    return { kind, subject, permissions, ...scope, ...contextOf(scope, retailerContext) };
  }

  /** Whether the grants of an integration still give it the application of a retailer, as `retailerContext` if any. */
  async reachesApplication(
    integrationId: string,
    target: Pick<AccessTarget, 'applicationId' | 'retailerContext'>,
    callOptions: CallOptions,
  ): Promise<boolean> {
    const whole = { creditorId: undefined, retailerId: undefined, ...target };
    const { scope } = await this.#granted(integrationId, OF_RETAILERS, whole, callOptions);
    return scope.retailerId !== undefined;
  }

  #granted(
    integrationId: string,
    rule: ScopeRule,
    wholeTarget: AccessTarget,
    callOptions: CallOptions,
  ): Granted | Promise<Granted> {
    const target = relevantTo(rule, wholeTarget);
    const { applicationId, creditorId, retailerId, retailerContext } = target;
    const ids = [applicationId, creditorId, retailerId, retailerContext];
    const key = [integrationId, rule.whileDisabled, ...rule.sides, ...ids].join(' ');
    return this.#scopes.find(key, { integrationId, rule, target, callOptions });
  }

  /** The retailer of an integration that has a grant on exactly one. */
  async #onlyRetailer({ integrationId, callOptions }: OnlyRetailerQuestion): Promise<Scope> {
    const { grants } = await this.#peers.access.listGrants(
      { integrationId, side: GrantSide.RETAILER, limit: 2 },
      sharedCall(callOptions),
    );
    const [only] = grants;
    return grants.length === 1 && only !== undefined ? { retailerId: only.id } : NO_SCOPE;
  }

  /**
   * Every request of one operation makes the same calls, whether the record is the caller's, another
   * tenant's or missing. Therefore an application's retailer, which never changes, is not cached across
   * callers: a faster answer for another tenant's application would show that the application exists.
   */
  async #scope({ integrationId, rule, target, callOptions }: ScopeQuestion): Promise<Granted> {
    const { sides, whileDisabled } = rule;
    const { creditorId, retailerContext } = target;
    const context = sharedCall(callOptions);
    const located = await this.#locate(rule, target, context);
    const grants = await this.#peers.access.checkGrants(
      {
        integrationId,
        retailerId: retailerContext ?? retailerToCheck(located),
        creditorId: sides.includes('creditor') ? (creditorId ?? '') : '',
      },
      context,
    );
    const isCreditorGranted = grants.creditor || (whileDisabled && grants.disabledCreditor);
    const ofCreditor =
      sides.includes('creditor') && isCreditorGranted && creditorId !== undefined
        ? { creditorId }
        : undefined;

    switch (located.kind) {
      case 'unnamed':
        return { scope: ofCreditor ?? NO_SCOPE, isRetailerDenied: false };
      case 'missing':
        // X-Service-Retailer-ID must name a granted retailer, whose group the application belongs to.
        return retailerContext === undefined
          ? { scope: ofCreditor ?? NO_SCOPE, isRetailerDenied: false }
          : { scope: NO_SCOPE, isRetailerDenied: !grants.retailer };
      case 'retailer': {
        const { retailerId, isInContext } = located;
        const ofRetailer =
          sides.includes('retailer') && grants.retailer ? { retailerId } : undefined;
        if (retailerContext === undefined) {
          return {
            scope: ofCreditor ?? ofRetailer ?? NO_SCOPE,
            isRetailerDenied: !grants.retailer,
          };
        }
        if (!grants.retailer || !isInContext) return { scope: NO_SCOPE, isRetailerDenied: true };
        // The header also selects the side of a caller that has grants on both.
        return { scope: ofRetailer ?? ofCreditor ?? NO_SCOPE, isRetailerDenied: false };
      }
    }
  }

  /** The retailer of a request: that of its application, or the one that it names. */
  async #locate(
    { sides }: ScopeRule,
    { applicationId, retailerId, retailerContext }: AccessTarget,
    context: CallContext,
  ): Promise<Located> {
    if (
      applicationId !== undefined &&
      (sides.includes('retailer') || retailerContext !== undefined)
    ) {
      const lookup = { applicationId, contextRetailerId: retailerContext ?? '' };
      const found = await this.#peers.applications.locateApplication(lookup, context);
      if (found.retailerId === '') return { kind: 'missing', applicationId };
      return { kind: 'retailer', retailerId: found.retailerId, isInContext: found.inContext };
    }
    const named = retailerContext ?? retailerId;
    if (named === undefined) return { kind: 'unnamed' };
    return { kind: 'retailer', retailerId: named, isInContext: true };
  }
}

/** The retailer that X-Service-Retailer-ID names, where the scope is that of another retailer of its group. */
function contextOf(
  { retailerId }: Scope,
  retailerContext: string | undefined,
): Pick<Identity, 'retailerContext'> {
  if (retailerId === undefined || retailerContext === undefined) return {};
  return retailerContext === retailerId ? {} : { retailerContext };
}

/** The retailer whose grant is checked; empty for none. */
function retailerToCheck(located: Located): string {
  switch (located.kind) {
    case 'unnamed':
      return '';
    case 'missing':
      // A missing application is looked up under its own id, which is no retailer's.
      return located.applicationId;
    case 'retailer':
      return located.retailerId;
  }
}

/** The message for a key of the other kind. */
export function keyKindMessage(takes: AccessRule['caller']): string {
  return `this operation takes ${takes === 'platform' ? 'a platform' : "an integration's"} key`;
}

/** The message for a retailer without a grant, and for one whose group the application does not belong to. */
function retailerDenied(retailerContext: string | undefined): string {
  return retailerContext === undefined
    ? 'your integration has no grant on the retailer that this request is made for'
    : 'X-Service-Retailer-ID names a retailer without a grant for your integration, or whose group the application does not belong to';
}

function retailerRequired(): Fault {
  const message = 'is required, because your integration has no grant or several on retailers';
  const field = { in: 'header', pointer: '/X-Service-Retailer-ID', message };
  return invalidFields('retailer_required', [field]);
}

/**
 * The part of the target that a caller's scope depends on. On a creditor's side the scope is the same for
 * every application, unless X-Service-Retailer-ID is sent, so one lookup serves all decisions of a creditor.
 */
function relevantTo({ sides }: ScopeRule, target: AccessTarget): AccessTarget {
  if (sides.includes('retailer') || target.retailerContext !== undefined) return target;
  const { creditorId, retailerContext } = target;
  return { applicationId: undefined, creditorId, retailerId: undefined, retailerContext };
}
