// One row of the access matrix: an operation, called by every caller with ids of both tenants and unknown ids.
import { randomUUID } from 'node:crypto';
import type { DescribedAccess, JsonObject } from '@creditlane/gateway/document/openapi-document';
import type { Answer, ApiClient } from '../../platform/api-client.ts';
import { expectationOf, type MatrixCaller } from './expectation.ts';
import { type IdPlace, type MatrixOperation, RETAILER_CONTEXT } from './matrix-operation.ts';
import { DIRECTORY_IDS, PREPARATIONS, type Records } from './records.ts';
import { type Ids, makeRequest, requiredId } from './request.ts';

export class MatrixRow {
  /** What was not as the operation's access rule says, one line each. */
  readonly faults: string[] = [];
  readonly #api: ApiClient;
  readonly #operation: MatrixOperation;
  readonly #records: Records;
  #prepared: Ids | undefined;

  constructor(api: ApiClient, operation: MatrixOperation, records: Records) {
    this.#api = api;
    this.#operation = operation;
    this.#records = records;
  }

  async callAs(caller: MatrixCaller): Promise<void> {
    const { own, other } = this.#records;
    // Of a caller that the operation changes.
    if (PREPARATIONS[this.#operation.id]?.changesCaller) this.#prepared = undefined;
    const ownAnswer = await this.#call(caller, own);
    const expected = expectationOf(this.#operation, caller, this.#requiresContext);
    switch (expected.kind) {
      case 'refused': {
        const { status, code } = expected;
        this.#check(caller, 'own ids', ownAnswer, isRefusal(ownAnswer, status, code), code);
        this.#compare(
          caller,
          'ids of the other tenant',
          await this.#call(caller, other),
          ownAnswer,
        );
        this.#compare(caller, 'unknown ids', await this.#call(caller, unknown(own)), ownAnswer);
        return;
      }
      case 'denied': {
        const denied = isRefusal(ownAnswer, 403, 'retailer_access_denied');
        return this.#check(caller, 'own ids', ownAnswer, denied, 'retailer_access_denied');
      }
      case 'missing': {
        const answer = await this.#call(caller, unknown(own));
        this.#check(caller, 'unknown ids', answer, isMissing(answer), '400 or 404');
        return this.#compare(caller, 'own ids', ownAnswer, answer);
      }
      case 'admitted':
        this.#check(caller, 'own ids', ownAnswer, this.#isSuccess(caller, ownAnswer), 'a success');
        for (const place of this.#operation.places) await this.#replace(caller, place);
    }
  }

  /** An id of the other tenant gets the answer of an unknown id. */
  async #replace(caller: MatrixCaller, place: IdPlace): Promise<void> {
    const { id, access, places } = this.#operation;
    const { anyTenant = [] } = PREPARATIONS[id] ?? {};
    if (place.in === 'body' && anyTenant.includes(place.name)) return;
    // A platform key may combine all records of the directory, but not the parts of two of them.
    if (access.caller === 'platform' && (place.in !== 'path' || DIRECTORY_IDS.has(place.name)))
      return;
    // A filter of a list of the caller's own records finds them.
    if (caller.isOtherTenant && place.in === 'query') return;
    const { own, other } = this.#records;
    // The same id in another place, such as an applicationId in path and body, is replaced with it.
    const same = places.filter((it) => it === place || (it.sent && it.name === place.name));
    for (const replaced of same.length > 1 ? [[place], same] : [[place]]) {
      const call = (value: string) =>
        this.#call(caller, own, new Map(replaced.map((it) => [it, value])));
      const foreign = await call(requiredId(other, place.name));
      const missing = await call(randomUUID());
      const what = `the other tenant's ${place.name} in the ${replaced.map((it) => it.in)}`;
      const isSpecified =
        access.forbidsDeniedRetailer && isRefusal(foreign, 403, 'retailer_access_denied');
      if (!isSpecified) this.#compare(caller, what, foreign, missing);
      if (isTarget(place, access) || place.in === 'path' || place.in === 'header') {
        this.#check(caller, what, foreign, foreign.status >= 400, 'a refusal');
      }
      if (place.in === 'header') await this.#sendOwnContext(caller, place, missing);
    }
  }

  async #sendOwnContext(caller: MatrixCaller, place: IdPlace, missing: Answer): Promise<void> {
    const { own } = this.#records;
    const answer = await this.#call(caller, own, new Map([[place, requiredId(own, place.name)]]));
    const { kind } = expectationOf(this.#operation, caller, true);
    const what = 'the own retailer in the header';
    if (kind !== 'admitted') return this.#compare(caller, what, answer, missing);
    this.#check(caller, what, answer, this.#isSuccess(caller, answer), 'a success');
  }

  get #requiresContext(): boolean {
    return this.#operation.places.some((it) => it.sent && it.steps[0] === RETAILER_CONTEXT);
  }

  async #call(caller: MatrixCaller, ids: Ids, replaced?: Map<IdPlace, string>): Promise<Answer> {
    const { own } = this.#records;
    const { id, method, access, body } = this.#operation;
    const { makeIds, vary } = PREPARATIONS[id] ?? {};
    if (ids === own) {
      const make = async () => ({
        ...(access.caller === 'platform' && (await this.#records.makeDirectory())),
        ...(await makeIds?.(this.#records, caller)),
      });
      this.#prepared ??= await make();
    }
    const operation = vary
      ? { ...this.#operation, body: vary(body as JsonObject) }
      : this.#operation;
    const sent = makeRequest(
      operation,
      ids === own ? { ...own, ...this.#prepared } : ids,
      replaced,
    );
    const answer = await this.#api.call(method, sent.path, { ...sent.options, key: caller.key });
    // A success uses up the records that were made for it.
    if (answer.status < 300) this.#prepared = undefined;
    const foreign = this.#findForeignId(caller, JSON.stringify(sent), answer);
    if (foreign) this.faults.push(`${caller.name}: the answer holds the foreign id ${foreign}`);
    return answer;
  }

  /** An id in the answer that the request does not name, of a tenant without a grant to the caller. */
  #findForeignId(caller: MatrixCaller, request: string, { body }: Answer): string | undefined {
    const { grants, kind, isOwner } = caller;
    const isTenants = kind === 'platform' || isOwner || grants.retailer || grants.creditor;
    const { own, other } = this.#records;
    const text = JSON.stringify(body ?? '');
    const foreignIds = Object.values(isTenants ? other : own);
    return foreignIds.find((id) => text.includes(id) && !request.includes(id));
  }

  /** The owner succeeds. Other admitted callers may lack the state or the record of their own. */
  #isSuccess(caller: MatrixCaller, { status, body }: Answer): boolean {
    if (status < 300) return true;
    const { access, id } = this.#operation;
    if (caller.isOwner || access.caller === 'platform') return false;
    if (access.side === undefined) return status !== 401 && status !== 403 && status < 500;
    return body.code === PREPARATIONS[id]?.stateCode;
  }

  #check(caller: MatrixCaller, what: string, answer: Answer, holds: boolean, expected: string) {
    if (!holds) this.#fault(caller, what, answer, expected);
  }

  #compare(caller: MatrixCaller, what: string, answer: Answer, expected: Answer): void {
    const wanted = JSON.stringify(comparable(expected));
    if (JSON.stringify(comparable(answer)) !== wanted) this.#fault(caller, what, answer, wanted);
  }

  #fault({ name }: MatrixCaller, what: string, { status, body }: Answer, expected: string): void {
    this.faults.push(`${name}, ${what}: ${status} ${JSON.stringify(body)} instead of ${expected}`);
  }
}

/** Whether the access rule reads the id at a place of the body or the query. */
function isTarget({ in: where, steps }: IdPlace, { target = {} }: DescribedAccess): boolean {
  const expression = where === 'body' ? `body#/${steps.join('/')}` : `${where}.${steps[0]}`;
  return Object.values(target).includes(`$request.${expression}`);
}

function unknown(ids: Ids): Ids {
  return Object.fromEntries(Object.keys(ids).map((name) => [name, randomUUID()]));
}

/** A 401 may consist of its status alone. */
function isRefusal({ status, body }: Answer, expected: number, code: string): boolean {
  const isBare = status === 401 && JSON.stringify(body) === '{"status":401}';
  return status === expected && (isBare || body?.code === code);
}

function isMissing({ status }: Answer): boolean {
  return status === 400 || status === 404;
}

/** The parts of an answer that must be the same for a foreign record and for an unknown one. */
function comparable({ status, body, headers }: Answer): unknown {
  const names = [...headers.keys()].filter((name) => !name.startsWith('ratelimit'));
  if (status < 400) return { status, names, shape: shapeOf(body) };
  const message = body.message?.replaceAll(/[0-9a-f-]{36}/g, 'ID');
  return { status, names, body: { ...body, requestId: '', message } };
}

/** The types of a success's values: two successes make two records. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.entries(value).map(([name, member]) => [name, shapeOf(member)]);
}
