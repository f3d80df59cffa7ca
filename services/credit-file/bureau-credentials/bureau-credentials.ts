/** Sets, lists and removes the retailers' credentials with the bureaus, for the platform's administration. */
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { describeRefusal } from '@creditlane/egress-rules/describe-refusal';
import { EgressDeniedError } from '@creditlane/egress-rules/destination-url';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { ScopedPool } from '@creditlane/postgres/row-security/scoped-pool';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import {
  EquifaxTransport,
  type ListBureauCredentialsResponse,
  type SetBureauCredentialsRequest,
  type StoredBureauCredentials,
  StoredBureauCredentialsSchema,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { Source as SourceValue } from '@creditlane/proto/creditfile/v1/credit_file_service';
import type { Call } from '@creditlane/rpc/call';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import type { Clock } from '@creditlane/runtime/clock';
import { appendAuditRecord } from '../audit/audit-log.ts';
import { type AuditAction, actorOf } from '../audit/audit-record.ts';
import type { Source } from '../bureaus/bureau.ts';
import { type BureauHostRules, checkBureauUrl } from '../bureaus/transport/bureau-hosts.ts';
import { findCredentials, removeCredentials, setCredentials } from '../store/bureau-credentials.ts';
import { type BureauCredentials, openCredentials, sealCredentials } from './sealed-credentials.ts';

export interface BureauCredentialsDeps {
  requests: RequestPool;
  /** Seals the credentials. */
  keyRing: KeyRing;
  /** Where inquiries may be sent to. */
  hostRules: BureauHostRules;
  /** Throws the fault `bureau_not_configured` for a bureau that the platform cannot ask. */
  requireConfigured: (source: Source) => void;
  clock: Clock;
}

/**
 * Stores credentials in the place of earlier ones.
 *
 * @throws Fault `bureau_not_configured` or `invalid_bureau_credentials`
 */
export async function setBureauCredentials(
  deps: BureauCredentialsDeps,
  { retailerId, credentials: given }: SetBureauCredentialsRequest,
  call: Call,
): Promise<void> {
  const credentials = credentialsOf(given);
  deps.requireConfigured(credentials.source);
  checkCredentials(credentials, deps.hostRules);
  const sealed = sealCredentials(deps.keyRing, retailerId, credentials);
  const row = { retailerId, source: credentials.source, ...sealed };
  await inTransaction(scopeOf(deps, retailerId, call).onRow(retailerId), async (tx) => {
    await setCredentials(tx, row);
    await recordChange(deps, tx, 'CREDENTIALS_SET', row, call);
  });
}

/** The retailer's credentials with the bureau, or with each, without their secrets. */
export async function listBureauCredentials(
  deps: BureauCredentialsDeps,
  { retailerId, source }: { retailerId: string; source?: Source },
  call: Call,
): Promise<ListBureauCredentialsResponse['credentials']> {
  const rows = await findCredentials(scopeOf(deps, retailerId, call), retailerId, source);
  return rows.map((row) => storedMessage(openCredentials(deps.keyRing, row), row.setAt));
}

export async function removeBureauCredentials(
  deps: BureauCredentialsDeps,
  { retailerId, source }: { retailerId: string; source: Source },
  call: Call,
): Promise<void> {
  await inTransaction(scopeOf(deps, retailerId, call).onRow(retailerId), async (tx) => {
    if (!(await removeCredentials(tx, retailerId, source))) return;
    await recordChange(deps, tx, 'CREDENTIALS_REMOVED', { retailerId, source }, call);
  });
}

function recordChange(
  { keyRing, clock }: BureauCredentialsDeps,
  tx: Queryable,
  action: AuditAction,
  { retailerId, source }: { retailerId: string; source: Source },
  { identity, requestId }: Call,
): Promise<void> {
  const actor = actorOf(identity);
  const record = { action, at: clock(), retailerId, actor, requestId, source };
  return appendAuditRecord(tx, keyRing, record);
}

/** The administration has no tenant: the scope of its call is the retailer that its request names. */
function scopeOf({ requests }: BureauCredentialsDeps, retailerId: string, call: Call): ScopedPool {
  return requests.of(call, { retailers: [retailerId] });
}

function credentialsOf(given: SetBureauCredentialsRequest['credentials']): BureauCredentials {
  if (given.case === 'equifax') return { source: 'EQUIFAX', value: given.value };
  if (given.case === 'transunion') return { source: 'TRANSUNION', value: given.value };
  // The contract's rules refuse a request without credentials.
  throw new Error('the request has no credentials');
}

function checkCredentials({ source, value }: BureauCredentials, rules: BureauHostRules): void {
  const faults = new FieldFaults();
  checkBaseUrl(faults, value.baseUrl, rules);
  if (source === 'EQUIFAX') {
    const needsClient = value.transport === EquifaxTransport.OAUTH;
    for (const [pointer, text] of [
      ['/clientId', value.clientId],
      ['/clientSecret', value.clientSecret],
    ] as const) {
      if (needsClient && text === '') faults.add(pointer, 'is required by the transport OAUTH');
      if (!needsClient && text !== '') faults.add(pointer, 'belongs to the transport OAUTH only');
      faults.checkPrintable(pointer, text);
    }
    faults.checkPrintable('/securityCode', value.securityCode);
  } else {
    faults.checkPrintable('/memberCode', value.memberCode);
    faults.checkPrintable('/password', value.password);
  }
  faults.throwIfAny('invalid_bureau_credentials');
}

/** The same rules as for each inquiry, so that credentials which would never be sent are not stored. */
function checkBaseUrl(faults: FieldFaults, text: string, rules: BureauHostRules): void {
  if (text.includes('#')) faults.add('/baseUrl', 'must not hold a fragment');
  try {
    checkBureauUrl(text, rules);
  } catch (error) {
    if (!(error instanceof EgressDeniedError)) throw error;
    faults.add('/baseUrl', describeRefusal(error.code, rules));
  }
}

function storedMessage({ source, value }: BureauCredentials, setAt: Date): StoredBureauCredentials {
  return create(StoredBureauCredentialsSchema, {
    source: SourceValue[source],
    member: source === 'EQUIFAX' ? value.customerNumber : value.memberCode,
    baseUrl: value.baseUrl,
    setAt: timestampFromDate(setAt),
  });
}
