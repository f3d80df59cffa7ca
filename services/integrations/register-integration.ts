/** Registers an integration, or replaces the name, permissions and rate limit of the one that has its id. */
import type { SealedAnswers } from '@creditlane/idempotency/sealed-answers';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import {
  type RegisterIntegrationRequest,
  type RegisterIntegrationResponse,
  RegisterIntegrationResponseSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import type { Clock } from '@creditlane/runtime/clock';
import { permissionNames } from './permission.ts';
import { saveIntegration } from './store/integrations.ts';

export interface RegisterIntegrationDeps {
  requests: RequestPool;
  answers: SealedAnswers;
  clock: Clock;
  newId: () => string;
}

/**
 * A request without an id registers a new integration. A request repeated with its idempotency key
 * changes nothing and gets the same id.
 *
 * @throws Fault `invalid_integration`, or a fault of the idempotency key
 */
export function registerIntegration(
  { requests, answers, clock, newId }: RegisterIntegrationDeps,
  { integrationId, name, permissions, rateLimit }: RegisterIntegrationRequest,
  call: Call,
): Promise<RegisterIntegrationResponse> {
  const faults = new FieldFaults();
  faults.checkName('/name', name);
  faults.throwIfAny('invalid_integration');

  const row = {
    id: integrationId || newId(),
    name,
    permissions: permissionNames(permissions),
    createdAt: clock(),
    rateLimitRequests: rateLimit?.requests ?? null,
    rateLimitWindowS: rateLimit?.windowSeconds ?? null,
  };
  const answer = { integrationId: row.id };
  const db = requests.of(call, { integrations: [row.id] });
  return answers.storeThenWrite(
    db.onRow(row.id),
    call,
    RegisterIntegrationResponseSchema,
    answer,
    (tx) => saveIntegration(tx, row),
  );
}
