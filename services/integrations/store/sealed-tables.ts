import type { KeyRing } from '@creditlane/crypto/key-ring';
import { SealedAnswers } from '@creditlane/idempotency/sealed-answers';
import type { Database } from '@creditlane/postgres/database';
import { sealedSecrets } from './destinations.ts';
import { sealedConfigurations } from './retailer-enablements.ts';

/** The tables with sealed columns, for a rotation of the key ring. */
export function sealedTables(pool: Database['pool'], keyRing: KeyRing) {
  return [
    sealedSecrets(pool, 'destinations'),
    sealedSecrets(pool, 'previous_secrets'),
    sealedConfigurations(pool),
    new SealedAnswers(pool, keyRing),
  ];
}
