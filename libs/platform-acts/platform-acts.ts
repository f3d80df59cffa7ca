/**
 * The audit of platform acts: who of the platform's administration registered, granted, issued, revoked and grouped what, and
 * when. A service records each act in the transaction of its change, and keeps it for good.
 */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { PlatformActsService } from '@creditlane/proto/audit/v1/platform_acts_service';
import type { Call } from '@creditlane/rpc/call';
import { idBefore } from '@creditlane/rpc/lists/list-cursor';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { newId } from '@creditlane/runtime/ids';

export type PlatformAction =
  | 'INTEGRATION_REGISTERED'
  | 'INTEGRATION_CHANGED'
  | 'KEY_ISSUED'
  | 'KEY_REVOKED'
  | 'RETAILER_GRANTED'
  | 'RETAILER_WITHDRAWN'
  | 'RETAILER_ENABLED'
  | 'CREDITOR_GRANTED'
  | 'CREDITOR_WITHDRAWN'
  | 'DESTINATION_SET'
  | 'DESTINATION_REMOVED'
  | 'SECRET_ROTATED'
  | 'RETAILER_REGISTERED'
  | 'RETAILER_GROUP_REGISTERED'
  | 'USER_REGISTERED'
  | 'CREDITOR_REGISTERED';

/** What an act is about: ids, and the permissions that an integration has from then on. Nothing of it is personal or secret. */
export interface ActSubject {
  integrationId?: string;
  keyId?: string;
  retailerId?: string;
  retailerGroupId?: string;
  creditorId?: string;
  userId?: string;
  permissions?: readonly string[];
}

/** The SQL that makes the table, whose rows neither requests nor the service may change. */
export const createPlatformActsSql: readonly string[] = [
  `CREATE TABLE platform_acts (
    id uuid PRIMARY KEY,
    at timestamptz NOT NULL,
    actor text NOT NULL,
    request_id text NOT NULL,
    action text NOT NULL,
    subject jsonb NOT NULL
  )`,
  `CREATE FUNCTION refuse_act_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'platform acts are neither changed nor deleted' USING ERRCODE = 'restrict_violation';
    END $$`,
  `CREATE TRIGGER platform_acts_are_kept BEFORE UPDATE OR DELETE ON platform_acts
    FOR EACH ROW EXECUTE FUNCTION refuse_act_change()`,
  `CREATE TRIGGER platform_acts_are_not_truncated BEFORE TRUNCATE ON platform_acts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_act_change()`,
  'REVOKE UPDATE, DELETE, TRUNCATE ON platform_acts FROM CURRENT_USER',
];

const insertRow = defineStatement(
  'platform_act_insert',
  `INSERT INTO platform_acts (id, at, actor, request_id, action, subject)
   VALUES ($1, now(), $2, $3, $4, $5)`,
);

/** Records an act of the caller, in the transaction of the change. */
export async function recordAct(
  tx: Queryable,
  { identity, requestId }: Pick<Call, 'identity' | 'requestId'>,
  action: PlatformAction,
  subject: ActSubject,
): Promise<void> {
  const values = [newId(), identity.subject, requestId, action, JSON.stringify(subject)];
  await insertRow.run(tx, values);
}

interface ActRow {
  actId: string;
  at: Date;
  actor: string;
  requestId: string;
  action: string;
  subject: ActSubject;
}

const selectPage = defineStatement<ActRow>(
  'platform_acts_list',
  `SELECT id AS "actId", at, actor, request_id AS "requestId", action, subject
   FROM platform_acts WHERE id < $1 ORDER BY id DESC LIMIT $2`,
);

/** The name of the list, of which every service has a part, as the gateway makes its cursors. */
const PLATFORM_ACTS_LIST = ['platform acts'] as const;

/** The routes to mount. `pool` acts as the owner of the table: no tenant reads it. */
export function platformActsRoutes(pool: Queryable): ServiceRoutes {
  return implement(PlatformActsService, {
    async listPlatformActs({ limit, cursor }) {
      const rows = await selectPage.run(pool, [idBefore(cursor, PLATFORM_ACTS_LIST), limit]);
      const acts = rows.map(({ at, subject: { permissions = [], ...ids }, ...row }) => ({
        ...row,
        ...ids,
        permissions: [...permissions],
        at: timestampFromDate(at),
      }));
      return { acts };
    },
  });
}
