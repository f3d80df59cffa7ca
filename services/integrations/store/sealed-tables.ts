import type { KeyRing } from '@creditlane/crypto/key-ring';
import { defineSealedField } from '@creditlane/crypto/sealed-column';
import { SealedAnswers } from '@creditlane/idempotency/sealed-answers';
import type { Database } from '@creditlane/postgres/database';

const sealedRows = (table: string, column: string) =>
  defineSealedField({
    table,
    column,
    primaryKey: { id: 'uuid' },
    tenantSql: 'integration_id',
  });

/** A destination's newest secret is in its own row; the earlier ones that still sign have rows of their own. */
export const sealedSecrets = sealedRows('destinations', 'sealed_secret');
export const sealedPreviousSecrets = sealedRows('previous_secrets', 'sealed_secret');
export const sealedConfigurations = sealedRows('retailer_enablements', 'sealed_config');

/** The tables with sealed columns, for a rotation of the key ring. */
export function sealedTables(pool: Database['pool'], keyRing: KeyRing) {
  const fields = [sealedSecrets, sealedPreviousSecrets, sealedConfigurations];
  return [...fields.map((field) => field.column(pool)), new SealedAnswers(pool, keyRing)];
}
