/** Reads the payload of an export, for the webhook that carries it. */
import { SealError } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Queryable } from '@creditlane/postgres/statement';
import { type Fault, notFound } from '@creditlane/rpc/fault';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { findDataKeys } from '../store/applicant-data-keys.ts';
import { findExport } from '../store/exports.ts';
import { withoutSins } from './payload.ts';
import { openPayload } from './sealed-payload.ts';

export interface ReadExportDeps {
  /** Acts for no tenant: the dispatcher asks, for an event that it got. */
  owner: Queryable;
  /** Opens the payload. */
  keyRing: KeyRing;
  log: Log;
}

/**
 * The JSON text of the payload, the same on every read; without `withSin`, social insurance numbers are null in it.
 *
 * @throws Fault `export_deleted` after the retention or the erasure of an applicant, `export_unreadable` when the payload cannot be
 * decrypted, because its bytes or the key ring are wrong
 */
export async function readExport(
  { owner, keyRing, log }: ReadExportDeps,
  { exportId, withSin }: { exportId: string; withSin: boolean },
): Promise<string> {
  const row = await findExport(owner, exportId);
  if (!row) throw exportDeleted();
  const { sealed, sealedWith, applicationId, retailerId } = row;
  try {
    const dataKeys = await findDataKeys(owner, keyRing, applicationId, retailerId);
    if (dataKeys === 'destroyed') throw exportDeleted();
    const sealedBy = sealedWith === null ? dataKeys : undefined;
    const text = openPayload(keyRing, sealedBy, sealed, exportId, retailerId);
    return withSin ? text : withoutSins(text);
  } catch (err) {
    if (!(err instanceof SealError)) throw err;
    log.error({ err, exportId }, 'an export cannot be decrypted, so its webhook is not sent');
    throw notFound('export_unreadable', 'The export cannot be decrypted.');
  }
}

function exportDeleted(): Fault {
  const when = 'after 45 days, or with the erasure of an applicant';
  return notFound('export_deleted', `The export was deleted ${when}.`);
}
