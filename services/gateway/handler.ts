/** What answers an operation: one function for each operationId, found at start. */
import type { CallContext } from '@creditlane/rpc/client';
import { type Fault, type FaultKind, internal, toFault } from '@creditlane/rpc/fault';
import type { JsonObject } from './openapi-document.ts';
import type { Operation } from './operation.ts';
import type { Parameters } from './validation.ts';
import { refusalOfFields } from './validation-messages.ts';

/** A request that is authentic, valid and within its limits. */
export interface OperationCall extends Parameters {
  /** Valid by the operation's schema; empty where the operation takes none or the request has none. */
  readonly body: JsonObject;
  /** For the calls to the services that are made in the caller's name. */
  readonly context: CallContext;
}

/** Gives the body of the answer; undefined where the operation answers with none. */
export type Handler = (call: OperationCall) => Promise<JsonObject | undefined>;

export type Handlers = Record<string, Handler>;

/**
 * The handler of each operation. Throws an Error that names every operation without a handler and
 * every handler without an operation.
 */
export function bindHandlers(
  operations: readonly Operation[],
  handlers: Handlers,
): ReadonlyMap<string, Handler> {
  const bound = new Map(Object.entries(handlers));
  const ids = new Set(operations.map(({ id }) => id));
  const faults = [
    ...[...ids].filter((id) => !bound.has(id)).map((id) => `operation ${id} has no handler`),
    ...[...bound.keys()].filter((id) => !ids.has(id)).map((id) => `handler ${id} has no operation`),
  ];
  if (faults.length > 0) throw new Error(faults.join('; '));
  return bound;
}

/** Refusals of a peer that tell of our own call, and nothing of the client's request. */
const ABOUT_US: ReadonlySet<string> = new Set<FaultKind>(['unauthenticated', 'unimplemented']);

/** What a failure means to the client: where a service refused us and not the client, ours is the fault. */
export function clientFault(error: unknown): Fault {
  const fault = toFault(error);
  const isOurs =
    fault.fromPeer && (ABOUT_US.has(fault.kind) || fault.code === 'caller_not_allowed');
  return isOurs ? internal(fault) : fault;
}

/**
 * Where a field of a service's request stands in the client's: prefixes of JSON Pointers, and the
 * kind of parameter where it is one and not in the body.
 */
type Move = readonly [from: string, to: string, place?: 'query'];

/** Waits for a call, moving the fields it refuses to where the client has them. */
export async function movingFields<T>(moves: readonly Move[], call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const fault = toFault(error);
    if (fault.kind !== 'invalid' || fault.fields.length === 0) throw fault;
    const fields = fault.fields.map(({ pointer, message }) => {
      const move = moves.find(([start]) => pointer === start || pointer.startsWith(`${start}/`));
      if (move === undefined) return { pointer, message };
      const [from, to, place] = move;
      const moved = { pointer: to + pointer.slice(from.length), message };
      return place === undefined ? moved : { in: place, ...moved };
    });
    throw refusalOfFields(fields, fault.code);
  }
}

/** The record that a service must have answered with. Throws an `internal` Fault when it left it out. */
export function answered<T>(record: T | undefined): T {
  if (record === undefined) throw internal(new Error('a service answered without its record'));
  return record;
}
