/** Reads back what the platform has set for an integration: a key that nobody remembers can then be found and revoked. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Queryable } from '@creditlane/postgres/statement';
import type { GetIntegrationResponseSchema } from '@creditlane/proto/integrations/v1/integrations_service';
import { integrationNotFound } from './integration.ts';
import { MAX_UNREVOKED_KEYS } from './keys/key.ts';
import { readPermissions } from './permission.ts';
import { findIntegration, rateLimitOf } from './store/integrations.ts';
import { findUnrevokedKeys } from './store/keys.ts';

/** @throws Fault `integration_not_found` */
export async function getIntegration(
  db: Queryable,
  integrationId: string,
): Promise<MessageInitShape<typeof GetIntegrationResponseSchema>> {
  const found = await findIntegration(db, integrationId);
  if (found === undefined) throw integrationNotFound();
  const keys = await findUnrevokedKeys(db, integrationId, MAX_UNREVOKED_KEYS);
  const { name, destinationId, destinationUrl: url } = found;
  const rateLimit = rateLimitOf(found);
  const events = found.destinationEvents ?? [];
  const deliveriesPerSecond = found.destinationPerSecond ?? undefined;
  return {
    integrationId,
    name,
    permissions: readPermissions(found.permissions),
    ...(rateLimit && { rateLimit }),
    keys: keys.map(({ id, createdAt }) => ({
      keyId: id,
      createdAt: timestampFromDate(createdAt),
    })),
    ...(destinationId !== null &&
      url !== null && { destination: { destinationId, url, events, deliveriesPerSecond } }),
  };
}
