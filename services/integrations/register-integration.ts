/** Registers an integration, and changes what it is registered with. */
import type { SealedAnswers } from '@creditlane/idempotency/sealed-answers';
import { recordAct } from '@creditlane/platform-acts/platform-acts';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import { inTransaction } from '@creditlane/postgres/transaction';
import type {
  ChangeIntegrationRequest,
  RegisterIntegrationRequest,
  RegisterIntegrationResponse,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { RegisterIntegrationResponseSchema } from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import { conflict } from '@creditlane/rpc/fault';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import type { Clock } from '@creditlane/runtime/clock';
import { integrationNotFound } from './integration.ts';
import { permissionNames, readPermissions } from './permission.ts';
import {
  findIntegration,
  insertIntegration,
  rateLimitOf,
  updateIntegration,
} from './store/integrations.ts';

export interface RegisterIntegrationDeps {
  requests: RequestPool;
  answers: SealedAnswers;
  clock: Clock;
  newId: () => string;
}

/**
 * A request without an id registers a new integration. One with the id of an integration changes nothing: it is answered with what
 * the integration has, unless it names something else. A request repeated with its idempotency key gets the same answer.
 *
 * @throws Fault `invalid_integration`, `integration_exists`, or a fault of the idempotency key
 */
export function registerIntegration(
  { requests, answers, clock, newId }: RegisterIntegrationDeps,
  request: RegisterIntegrationRequest,
  call: Call,
): Promise<RegisterIntegrationResponse> {
  checkName(request);
  const id = request.integrationId || newId();
  const row = { id, ...columnsOf(request), createdAt: clock() };
  const db = requests.of(call, { integrations: [id] });
  let isOther = false;
  return answers.writeThenStore(
    db.onRow(id),
    call,
    RegisterIntegrationResponseSchema,
    async (tx) => {
      const isNew = await insertIntegration(tx, row);
      if (isNew) await recordAct(tx, call, 'INTEGRATION_REGISTERED', subjectOf(row));
      const stored = isNew ? row : await findIntegration(tx, id);
      if (stored === undefined) throw new Error('an integration that was inserted is not found');
      isOther = !isNew && namesOther(request, stored);
      const rateLimit = rateLimitOf(stored);
      return {
        integrationId: id,
        permissions: readPermissions(stored.permissions),
        ...(rateLimit && { rateLimit }),
      };
    },
    () => {
      if (isOther) throw integrationExists();
    },
  );
}

/**
 * Replaces the name, the permissions and the rate limit of an integration.
 * @throws Fault `invalid_integration` or `integration_not_found`
 */
export async function changeIntegration(
  requests: RequestPool,
  request: ChangeIntegrationRequest,
  call: Call,
): Promise<void> {
  checkName(request);
  const { integrationId: id } = request;
  const row = { id, ...columnsOf(request) };
  await inTransaction(requests.of(call, { integrations: [id] }).onRow(id), async (tx) => {
    if (!(await updateIntegration(tx, row))) throw integrationNotFound();
    await recordAct(tx, call, 'INTEGRATION_CHANGED', subjectOf(row));
  });
}

const subjectOf = ({ id, permissions }: { id: string; permissions: string[] }) => ({
  integrationId: id,
  permissions,
});

function checkName({ name }: { name: string }): void {
  const faults = new FieldFaults();
  faults.checkName('/name', name);
  faults.throwIfAny('invalid_integration');
}

type StoredIntegration = ReturnType<typeof columnsOf>;
type Registered = Pick<RegisterIntegrationRequest, 'name' | 'permissions' | 'rateLimit'>;

const columnsOf = ({ name, permissions, rateLimit }: Registered) => ({
  name,
  permissions: permissionNames(permissions),
  rateLimitRequests: rateLimit?.requests ?? null,
  rateLimitWindowS: rateLimit?.windowSeconds ?? null,
});

/** Whether the request names something else than is stored. What it leaves out is not compared. */
function namesOther(request: RegisterIntegrationRequest, stored: StoredIntegration): boolean {
  const asked = columnsOf(request);
  const namesPermissions = asked.permissions.length > 0 || request.noPermissions;
  const hasOtherPermissions =
    new Set(asked.permissions).symmetricDifference(new Set(stored.permissions)).size > 0;
  const hasOtherLimit =
    asked.rateLimitRequests !== stored.rateLimitRequests ||
    asked.rateLimitWindowS !== stored.rateLimitWindowS;
  return (
    asked.name !== stored.name ||
    (namesPermissions && hasOtherPermissions) ||
    (request.rateLimit !== undefined && hasOtherLimit)
  );
}

function integrationExists() {
  return conflict(
    'integration_exists',
    'An integration with this id has another name, permissions or rate limit. PUT it to change them.',
  );
}
