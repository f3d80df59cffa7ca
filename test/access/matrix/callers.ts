// The callers of the access matrix: keys of both kinds, with more and fewer permissions and grants.
import type { TestPlatform } from '../../platform/test-platform.ts';
import type { MatrixCaller } from './expectation.ts';
import type { Administration } from './records.ts';

const NO_GRANTS = { retailer: false, creditor: false, disabled: false };
const BOTH_GRANTS = { retailer: true, creditor: true, disabled: false };
const CREDITOR_GRANT = { ...NO_GRANTS, creditor: true };

interface CallerSources {
  platform: TestPlatform;
  administration: Administration;
  /** Every permission that an operation asks of an integration. */
  permissions: readonly string[];
  /** Platform keys with their permissions. */
  platformKeys: ReadonlyMap<string, readonly string[]>;
}

type Named = Pick<MatrixCaller, 'name' | 'permissions' | 'grants'>;

/** All callers. The owner is the demo's integration, or a new one for an operation that changes its caller. */
export async function makeCallers(
  sources: CallerSources,
  { withNewOwner }: { withNewOwner: boolean },
): Promise<MatrixCaller[]> {
  const { platform, permissions } = sources;
  const { demo } = platform;
  const owner = { name: 'the owner', permissions, grants: BOTH_GRANTS };
  const other = { name: 'the other tenant', permissions, grants: NO_GRANTS, isOwner: false };
  const newOwner = withNewOwner ? await makeIntegration(sources, owner) : undefined;
  const key = newOwner?.key ?? demo.keys.integration;
  return [
    { ...owner, key, kind: 'integration', isOwner: true },
    ...(await makeWithFewerRights(sources)),
    { ...other, key: demo.otherTenant.key, kind: 'integration', isOtherTenant: true },
    ...(await makeRejected(sources)),
    ...platformCallers(sources),
  ];
}

async function makeWithFewerRights(sources: CallerSources): Promise<MatrixCaller[]> {
  const { permissions, administration, platform } = sources;
  const retailer = { ...NO_GRANTS, retailer: true };
  const disabled = { ...CREDITOR_GRANT, disabled: true };
  const withdrawn = { name: 'withdrawn grants', permissions, grants: BOTH_GRANTS };
  const made = await Promise.all(
    [
      { name: 'no permissions', permissions: [], grants: BOTH_GRANTS },
      { name: 'a grant on the retailer', permissions, grants: retailer },
      { name: 'a grant on the creditor', permissions, grants: CREDITOR_GRANT },
      { name: 'disabled for the creditor', permissions, grants: disabled },
      { name: 'disabled, with the retailer', permissions, grants: { ...disabled, retailer: true } },
      { name: 'no grant', permissions, grants: NO_GRANTS },
      withdrawn,
    ].map((caller) => makeIntegration(sources, caller)),
  );
  return Promise.all(
    made.map(async ({ integrationId, ...caller }) => {
      if (caller.name !== withdrawn.name) return caller;
      const { retailerId, creditorId } = platform.demo;
      const path = `/integrations/${integrationId}`;
      await administration.call('DELETE', `${path}/retailers/${retailerId}`);
      await administration.call('DELETE', `${path}/creditors/${creditorId}`);
      return { ...caller, grants: NO_GRANTS };
    }),
  );
}

async function makeIntegration(
  { platform, administration }: CallerSources,
  caller: Named,
): Promise<MatrixCaller & { key: string; integrationId: string }> {
  const { retailerId, creditorId } = platform.demo;
  const { grants, permissions } = caller;
  const { integrationId, key } = await administration.makeIntegration(permissions);
  const path = `/integrations/${integrationId}`;
  if (grants.retailer) await administration.call('PUT', `${path}/retailers/${retailerId}`);
  if (grants.creditor) await administration.call('PUT', `${path}/creditors/${creditorId}`);
  if (grants.disabled) {
    await platform.api.post('/creditors/disable-integration', { creditorId }, { key });
  }
  return { ...caller, key, integrationId, kind: 'integration', isOwner: false };
}

async function makeRejected({ platform }: CallerSources): Promise<MatrixCaller[]> {
  const { key: revokedKey, revoke } = await platform.issueKey();
  await revoke();
  const nobody = { permissions: [], grants: NO_GRANTS, isOwner: false };
  const integration = { ...nobody, kind: 'integration' as const };
  return [
    { ...integration, name: 'a revoked key', key: revokedKey, rejected: 'key_rejected' },
    {
      ...integration,
      name: 'a key never issued',
      key: platform.makeUnissuedKey(),
      rejected: 'key_rejected',
    },
    { ...integration, name: 'no key', key: null, rejected: 'key_missing' },
  ];
}

function platformCallers({ platformKeys }: CallerSources): MatrixCaller[] {
  return [...platformKeys].map(([key, permissions]) => ({
    name: `a platform key for ${permissions.join(' and ') || 'nothing'}`,
    key,
    kind: 'platform',
    permissions,
    grants: NO_GRANTS,
    isOwner: false,
  }));
}
