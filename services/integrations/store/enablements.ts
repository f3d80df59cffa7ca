/**
 * The SQL of enablements, which are columns of the grants on creditors. Status DISABLED is `disabled_at`,
 * by which a grant is not live; the column `enablement` holds every other status, and null until one is set.
 * Revoking a grant and granting it again leaves its enablement.
 */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { Enablement, EnablementStatusName } from '../enablement/enablement.ts';

interface EnablementColumns {
  status: EnablementStatusName | null;
  reason: string | null;
  setAt: Date | null;
}

const COLUMNS = `CASE WHEN disabled_at IS NULL THEN enablement ELSE 'DISABLED' END AS status,
     disabled_reason AS reason, coalesce(enablement_set_at, disabled_at) AS "setAt"`;

const selectEnablement = defineStatement<EnablementColumns>(
  'enablement_find',
  `SELECT ${COLUMNS} FROM creditor_grants
   WHERE integration_id = $1 AND creditor_id = $2 AND revoked_at IS NULL`,
);

const selectForUpdate = defineStatement<EnablementColumns>(
  'enablement_lock',
  `SELECT ${COLUMNS} FROM creditor_grants
   WHERE integration_id = $1 AND creditor_id = $2 AND revoked_at IS NULL FOR UPDATE`,
);

const update = defineStatement(
  'enablement_update',
  `UPDATE creditor_grants
   SET enablement = $3, disabled_at = $4, disabled_reason = $5, enablement_set_at = $6
   WHERE integration_id = $1 AND creditor_id = $2`,
);

/** The integration's enablement for the creditor; undefined without an unrevoked grant. */
export async function findEnablement(
  db: Queryable,
  integrationId: string,
  creditorId: string,
): Promise<Enablement | undefined> {
  const [row] = await selectEnablement.run(db, [integrationId, creditorId]);
  return row && toEnablement(row);
}

/** As `findEnablement`; locks the row until the transaction ends. */
export async function lockEnablement(
  tx: Queryable,
  integrationId: string,
  creditorId: string,
): Promise<Enablement | undefined> {
  const [row] = await selectForUpdate.run(tx, [integrationId, creditorId]);
  return row && toEnablement(row);
}

/** Replaces the enablement in a row that `lockEnablement` has locked. */
export async function updateEnablement(
  tx: Queryable,
  integrationId: string,
  creditorId: string,
  { status, reason, setAt }: Enablement,
): Promise<void> {
  const isDisabled = status === 'DISABLED';
  await update.run(tx, [
    integrationId,
    creditorId,
    isDisabled ? null : status,
    isDisabled ? setAt : null,
    reason,
    setAt,
  ]);
}

function toEnablement({ status, reason, setAt }: EnablementColumns): Enablement {
  return { status: status ?? undefined, reason: reason ?? undefined, setAt: setAt ?? undefined };
}
