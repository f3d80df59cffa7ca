/** The connections that handlers of requests get: each transaction acts as the request role, in a scope. */
import type { Call } from '@creditlane/rpc/call';
import type { TurnCaller } from '@creditlane/runtime/concurrency/turns';
import type pg from 'pg';
import type { RowTurns } from '../row-turns.ts';
import { defineStatement } from '../statement.ts';
import { ID_SEPARATOR, SCOPE_TYPES, type ScopeKind, setScopeIdsSql } from './policies.ts';
import { ScopedPool } from './scoped-pool.ts';

/** The ids that a request may act for; a kind without ids covers no row. */
export type RowScope = { readonly [Kind in ScopeKind]?: readonly string[] };

const KINDS = Object.keys(SCOPE_TYPES) as ScopeKind[];

/**
 * Sets the role as a setting: one SELECT then sets the role and the scope, with bound parameters, which
 * SET LOCAL ROLE does not take. num_nulls makes one column of them, which costs less to read than six.
 */
const enterScope = defineStatement(
  'scope_enter',
  `SELECT num_nulls(set_config('role', $1, true), ${KINDS.map((kind, n) => setScopeIdsSql(kind, `$${n + 2}`)).join(', ')})`,
);

/** Gives handlers of requests connections that act as the request role, never as the owner of the tables. */
export class RequestPool {
  readonly #owner: pg.Pool;
  readonly #role: string;
  readonly #rowTurns: RowTurns;

  /** @param owner the service's pool, whose role is a member of `role` */
  constructor(owner: pg.Pool, role: string, rowTurns: RowTurns) {
    this.#owner = owner;
    this.#role = role;
    this.#rowTurns = rowTurns;
  }

  /**
   * For the queries of this call: its scope is that of the verified identity token, and `also`. In the turns of a row they
   * are the caller's, and none begins after the call has ended.
   */
  of(call: Pick<Call, 'identity' | 'idempotency' | 'signal'>, also: RowScope = {}): ScopedPool {
    return this.within({ ...scopeOf(call), ...also }, call);
  }

  /** For queries in this scope. Throws an Error for an id that could be read as two. */
  within(scope: RowScope, caller: TurnCaller = {}): ScopedPool {
    const ids = KINDS.map((kind) => scope[kind] ?? null);
    if (ids.some((it) => it?.some((id) => id.includes(ID_SEPARATOR)))) {
      throw new Error('an id of a scope has a line break');
    }
    const enter = enterScope.query([this.#role, ...ids]);
    return new ScopedPool(this.#owner, this.#rowTurns, enter, caller);
  }
}

/** The rows that any of the scopes covers. */
export function unionOfScopes(scopes: readonly RowScope[]): RowScope {
  const union = KINDS.map((kind) => [kind, [...new Set(scopes.flatMap((it) => it[kind] ?? []))]]);
  return Object.fromEntries(union);
}

/** The rows that a call may read and write: those of its creditor and its retailer, and its stored answers. */
export function scopeOf({
  identity,
  idempotency,
}: Pick<Call, 'identity' | 'idempotency'>): RowScope {
  const { creditorId, retailerId } = identity;
  return {
    ...(creditorId !== undefined && { creditors: [creditorId] }),
    ...(retailerId !== undefined && { retailers: [retailerId] }),
    ...(idempotency !== undefined && { callers: [idempotency.callerId] }),
  };
}
