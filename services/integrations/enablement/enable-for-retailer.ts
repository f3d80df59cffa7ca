/** A retailer's own enabling of an integration: it grants the retailer, and an event reports it. */

import { create } from '@bufbuild/protobuf';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { withKeyedDigest } from '@creditlane/idempotency/keyed-digest';
import type { SealedAnswers } from '@creditlane/idempotency/sealed-answers';
import { appendToOutbox } from '@creditlane/messaging/outbox';
import { recordAct } from '@creditlane/platform-acts/platform-acts';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { DirectoryService } from '@creditlane/proto/applications/v1/directory_service';
import {
  type EnableForRetailerRequest,
  EnableForRetailerResponseSchema,
} from '@creditlane/proto/integrations/v1/enablement_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound } from '@creditlane/rpc/fault';
import type { PeerClient } from '@creditlane/rpc/peer-client';
import type { Clock } from '@creditlane/runtime/clock';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import type { Keys } from '@creditlane/runtime/setting';
import { integrationEnabled } from '../events.ts';
import { integrationRecords } from '../integration.ts';
import {
  findRetailerEnablement,
  insertRetailerEnablement,
  lockRetailerGrant,
  type RetailerEnablementRow,
} from '../store/retailer-enablements.ts';
import {
  checkConfiguration,
  isSameConfiguration,
  sealConfiguration,
  unsealConfiguration,
} from './configuration.ts';

export interface EnableForRetailerDeps {
  requests: RequestPool;
  answers: SealedAnswers;
  /** Knows the retailers and their names. */
  directory: PeerClient<typeof DirectoryService>;
  /** Seals and opens configurations. */
  keyRing: KeyRing;
  /** The HMAC key for the digests of requests, which may hold secrets. */
  digestKeys: Renewed<Keys>;
  clock: Clock;
  newId: () => string;
  /** Makes the relay publish the event without waiting for its next poll. */
  wakeRelay(): void;
}

/**
 * Makes the grant live and publishes IntegrationEnabled. While an enabling with an equal configuration is in
 * force, nothing changes and no event is published. Withdrawing the grant ends an enabling, so enabling again
 * after a withdrawal is reported again; so is enabling after the platform alone gave the grant.
 *
 * @throws Fault `invalid_configuration`, `integration_not_found`, `retailer_not_found`, or a fault of the
 *   idempotency key
 */
export async function enableForRetailer(
  deps: EnableForRetailerDeps,
  { integrationId, retailerId, configJson }: EnableForRetailerRequest,
  call: Call,
): Promise<object> {
  const { requests, answers, keyRing, digestKeys, clock, newId } = deps;
  checkConfiguration(configJson);
  const db = await integrationRecords(requests, call, integrationId);

  const schema = EnableForRetailerResponseSchema;
  await answers.answerCall(db, withKeyedDigest(call, digestKeys), schema, async (store) => {
    // The name is stored with the enabling: every attempt at the webhook must have the same body.
    const retailerName = await findRetailerName(deps, retailerId, call);
    const owner = { id: newId(), integrationId };
    const enablement = {
      ...owner,
      retailerId,
      retailerName,
      ...sealConfiguration(keyRing, configJson, owner),
      enabledAt: clock(),
    };
    const answer = create(schema);
    await inTransaction(db, async (tx) => {
      await store(tx, answer);
      if (await isInForce(tx, keyRing, enablement, configJson)) return;
      await insertRetailerEnablement(tx, enablement);
      await recordAct(tx, call, 'RETAILER_ENABLED', { integrationId, retailerId });
      await appendToOutbox(tx, [integrationEnabled(enablement, call.traceparent)]);
    });
    return answer;
  });
  deps.wakeRelay();
  return {};
}

/** Locks the grant. Whether an enabling with an equal configuration is in force on it. */
async function isInForce(
  tx: Queryable,
  keyRing: KeyRing,
  enablement: RetailerEnablementRow,
  configJson: string,
): Promise<boolean> {
  const id = await lockRetailerGrant(tx, enablement);
  const current = id === undefined ? undefined : await findRetailerEnablement(tx, id);
  if (current === undefined) return false;
  const config = unsealConfiguration(keyRing, current);
  return config !== undefined && isSameConfiguration(config, configJson);
}

async function findRetailerName(
  { directory }: EnableForRetailerDeps,
  retailerId: string,
  call: Call,
): Promise<string> {
  const request = { retailerIds: [retailerId] };
  const { retailers } = await directory.getRetailers(request, call);
  const [retailer] = retailers;
  if (retailer === undefined) throw notFound('retailer_not_found', 'There is no such retailer.');
  return retailer.name;
}
