import { concurrentIndexMigration } from '@creditlane/postgres/sql-migration';

/** The earlier secrets that a key wraps, for a rotation of the key ring. */
export const previousSecretsSealedWith1765000000000 = concurrentIndexMigration(
  'PreviousSecretsSealedWith1765000000000',
  'previous_secrets_sealed_with',
  'previous_secrets (sealed_with)',
);
