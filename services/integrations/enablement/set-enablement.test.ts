import { randomUUID } from 'node:crypto';
import { EnablementStatus } from '@creditlane/proto/integrations/v1/enablement_service';
import type { CallContext } from '@creditlane/rpc/client';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  asGateway,
  asPlatform,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';
import type { EnablementStatusName } from './enablement.ts';

const fixture = useIntegrations();

interface Ids {
  integrationId: string;
  creditorId: string;
}

let ids: Ids;
beforeEach(async () => {
  ids = await newGrant();
});

async function newGrant(): Promise<Ids> {
  const integrationId = await registerTestIntegration(fixture);
  const creditorId = randomUUID();
  await fixture.integrations.grantCreditor(
    { integrationId, creditorId, granted: true },
    asPlatform,
  );
  return { integrationId, creditorId };
}

/** A call of the integration, whose scope the gateway has found. */
const asIntegration = (
  { integrationId, creditorId }: Ids,
  more: Partial<CallContext> = {},
): CallContext => ({
  identity: { kind: 'integration', subject: integrationId, permissions: [], creditorId },
  ...more,
});

const SETTABLE = ['REQUESTED', 'WAITING_FOR_SECOND_ACTIVATION_STEP', 'FAILED_TO_ENABLE'] as const;

async function change(
  status: EnablementStatusName,
  { of = ids, reason, ...more }: Partial<CallContext> & { of?: Ids; reason?: string } = {},
): Promise<EnablementStatusName> {
  const { enablement } = fixture;
  const { creditorId } = of;
  const context = asIntegration(of, more);
  const request = { creditorId: creditorId.toUpperCase() };
  const answer =
    status === 'ENABLED'
      ? await enablement.enableIntegration(request, context)
      : status === 'DISABLED'
        ? await enablement.disableIntegration({ ...request, reason: reason ?? '' }, context)
        : await enablement.setIntegrationStatus(
            { ...request, status: EnablementStatus[status] },
            context,
          );
  return EnablementStatus[answer.status] as EnablementStatusName;
}

async function read(of = ids) {
  const { creditorId } = of;
  const found = await fixture.enablement.getIntegrationEnablement(
    { creditorId },
    asIntegration(of),
  );
  const { status, reason, setAt } = found;
  return { status: EnablementStatus[status], reason, isTimed: setAt !== undefined };
}

const checkGrants = ({ integrationId, creditorId } = ids) =>
  fixture.access.checkGrants({ integrationId, creditorId }, asGateway);

const NOT_REQUESTED = { kind: 'conflict', code: 'integration_not_requested' };
const NOT_FOUND = { kind: 'not_found', code: 'creditor_not_found' };

describe('the enablement of an integration for a creditor', () => {
  test('has no status at first, and cannot be enabled then', async () => {
    expect(await read()).toEqual({ status: 'UNSPECIFIED', reason: '', isTimed: false });
    await expect(change('ENABLED')).rejects.toMatchObject(NOT_REQUESTED);
    expect(await checkGrants()).toMatchObject({ creditor: true });
  });

  test('is enabled once it is requested, and only once', async () => {
    expect(await change('REQUESTED')).toBe('REQUESTED');
    expect(await change('ENABLED')).toBe('ENABLED');
    expect(await read()).toEqual({ status: 'ENABLED', reason: '', isTimed: true });
    await expect(change('ENABLED')).rejects.toMatchObject(NOT_REQUESTED);
    expect(await read()).toMatchObject({ status: 'ENABLED' });
  });

  test('in status DISABLED keeps its latest reason, and the grant is not live until another status is set', async () => {
    await change('DISABLED', { reason: 'The contract ended.' });
    expect(await change('DISABLED', { reason: 'Fraud.' })).toBe('DISABLED');
    expect(await read()).toEqual({ status: 'DISABLED', reason: 'Fraud.', isTimed: true });
    expect(await checkGrants()).toMatchObject({ creditor: false, disabledCreditor: true });
    await expect(change('ENABLED')).rejects.toMatchObject(NOT_REQUESTED);
    await change('REQUESTED');
    await change('ENABLED');
    expect(await read()).toEqual({ status: 'ENABLED', reason: '', isTimed: true });
    expect(await checkGrants()).toMatchObject({ creditor: true, disabledCreditor: false });
  });

  test('is not disabled with a reason that cannot be stored', async () => {
    await expect(change('DISABLED', { reason: 'Fraud\0' })).rejects.toMatchObject({
      kind: 'invalid',
      fields: [{ pointer: '/reason' }],
    });
    expect(await change('DISABLED', { reason: 'Fraud.\nSee the letter.' })).toBe('DISABLED');
  });

  test.each(SETTABLE)('in status %s does not affect the grant', async (status) => {
    await change('DISABLED');
    expect(await change(status)).toBe(status);
    expect(await checkGrants()).toMatchObject({ creditor: true, disabledCreditor: false });
  });

  test('outlives the revocation of the grant, and is out of reach meanwhile', async () => {
    await change('DISABLED', { reason: 'The contract ended.' });
    const grant = (granted: boolean) =>
      fixture.integrations.grantCreditor({ ...ids, granted }, asPlatform);
    await grant(false);
    for (const status of ['REQUESTED', 'ENABLED', 'DISABLED'] as const) {
      await expect(change(status)).rejects.toMatchObject(NOT_FOUND);
    }
    await expect(read()).rejects.toMatchObject(NOT_FOUND);
    expect(await checkGrants()).toMatchObject({ creditor: false, disabledCreditor: false });
    await grant(true);
    expect(await read()).toMatchObject({ status: 'DISABLED', reason: 'The contract ended.' });
  });

  test('of a creditor without a grant does not exist, and gives no grant', async () => {
    const creditorId = randomUUID();
    const of = { ...ids, creditorId };
    for (const status of ['REQUESTED', 'ENABLED', 'DISABLED'] as const) {
      await expect(change(status, { of })).rejects.toMatchObject(NOT_FOUND);
    }
    await expect(read(of)).rejects.toMatchObject(NOT_FOUND);
    expect(await checkGrants(of)).toMatchObject({ creditor: false, disabledCreditor: false });
  });

  test('of another creditor than the one in the scope does not exist', async () => {
    const { identity } = asIntegration({ ...ids, creditorId: randomUUID() });
    await expect(change('REQUESTED', { identity })).rejects.toMatchObject(NOT_FOUND);
    const withoutScope = { kind: 'integration', subject: ids.integrationId, permissions: [] };
    await expect(
      change('REQUESTED', { identity: withoutScope as typeof identity }),
    ).rejects.toMatchObject(NOT_FOUND);
  });

  test('of one integration is not that of another with a grant on the same creditor', async () => {
    const other = { ...ids, integrationId: await registerTestIntegration(fixture) };
    await fixture.integrations.grantCreditor({ ...other, granted: true }, asPlatform);
    await change('DISABLED');
    expect(await read(other)).toMatchObject({ status: 'UNSPECIFIED' });
    expect(await checkGrants(other)).toMatchObject({ creditor: true });
  });

  test.each([
    EnablementStatus.ENABLED,
    EnablementStatus.DISABLED,
    EnablementStatus.UNSPECIFIED,
    99,
  ])('cannot be set to status %i by SetIntegrationStatus', async (status) => {
    const request = { creditorId: ids.creditorId, status };
    await expect(
      fixture.enablement.setIntegrationStatus(request, asIntegration(ids)),
    ).rejects.toMatchObject({ kind: 'invalid', fields: [{ pointer: '/status' }] });
  });

  test('cannot be changed by the platform', async () => {
    const request = { creditorId: ids.creditorId };
    await expect(fixture.enablement.enableIntegration(request, asPlatform)).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });
});

describe('a change repeated with its idempotency key', () => {
  const keyed = () => {
    let replays = 0;
    const onReplayed = () => {
      replays += 1;
    };
    return { context: { idempotencyKey: randomUUID(), onReplayed }, replays: () => replays };
  };

  test('gets the first answer, and changes nothing', async () => {
    const { context, replays } = keyed();
    await change('REQUESTED');
    expect(await change('ENABLED', context)).toBe('ENABLED');
    await change('DISABLED', { reason: 'Fraud.' });
    expect(await change('ENABLED', context)).toBe('ENABLED');
    expect(replays()).toBe(1);
    expect(await read()).toMatchObject({ status: 'DISABLED', reason: 'Fraud.' });
  });

  test('is invalid with another body', async () => {
    const { context } = keyed();
    await change('DISABLED', { ...context, reason: 'One.' });
    await expect(change('DISABLED', { ...context, reason: 'Two.' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  test('is made when the first one was refused', async () => {
    const { context, replays } = keyed();
    await expect(change('ENABLED', context)).rejects.toMatchObject(NOT_REQUESTED);
    await change('REQUESTED');
    expect(await change('ENABLED', context)).toBe('ENABLED');
    expect(replays()).toBe(0);
  });

  test('at the same time is made once', async () => {
    await change('REQUESTED');
    const { context, replays } = keyed();
    const answers = await Promise.all([1, 2, 3].map(() => change('ENABLED', context)));
    expect(answers).toEqual(['ENABLED', 'ENABLED', 'ENABLED']);
    expect(replays()).toBe(2);
  });
});
