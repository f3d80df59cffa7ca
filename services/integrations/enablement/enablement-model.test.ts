// Models of both enablements, compared with the service: requests one by one and at once, with and without
// idempotency keys, and restarts of the service between them.
import { randomUUID } from 'node:crypto';
import { EnablementStatus } from '@creditlane/proto/integrations/v1/enablement_service';
import type { CallContext } from '@creditlane/rpc/client';
import type { Fault } from '@creditlane/rpc/fault';
import {
  type Model,
  oneOrMore,
  runAgainstModel,
  type System,
} from '@creditlane/runtime/test-model-run';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  asDispatcher,
  asGateway,
  asPlatform,
  OLD_KEY_RING,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';

const fixture = useIntegrations();
const restart = () => fixture.restart(OLD_KEY_RING);

type Key = string | undefined;
/** Two keys, so that some requests repeat an earlier one, and some reuse its key. */
const keys = fc.constantFrom<Key>(undefined, undefined, 'k1', 'k2');

/** By operation and key, the request that was answered. */
type Answered = Readonly<Record<string, string>>;

/** Whether a request repeats the one that was answered under its key; undefined for a key without an answer. */
function isRepetition(answered: Answered, keyed: string, request: string): boolean | undefined {
  const first = answered[keyed];
  return first === undefined ? undefined : first === request;
}

/** What a call answers, and whether that was a stored answer; or the code of its fault. */
async function outcomeOf(
  idempotencyKey: Key,
  call: (context: Partial<CallContext>) => Promise<string>,
): Promise<string> {
  let stored = '';
  const onReplayed = () => {
    stored = ' again';
  };
  return call({ idempotencyKey, onReplayed }).then(
    (answer) => answer + stored,
    (fault: Fault) => fault.code,
  );
}

type Status = Exclude<keyof typeof EnablementStatus, 'UNSPECIFIED'>;
type CreditorRequest =
  | { change: Status; reason: string; key: Key }
  | { grant: 'granted' | 'revoked' };

interface CreditorState {
  status: Status | 'UNSPECIFIED';
  reason: string;
  isGranted: boolean;
  answered: Answered;
}

const creditorModel: Model<CreditorState, CreditorRequest> = {
  start: { status: 'UNSPECIFIED', reason: '', isGranted: true, answered: {} },

  apply(state, request) {
    if ('grant' in request) {
      return {
        outcome: request.grant,
        state: { ...state, isGranted: request.grant === 'granted' },
      };
    }
    const { change, reason, key } = request;
    const refused = (outcome: string) => ({ outcome, state });
    const keyed = `${operationOf(change)} ${key}`;
    const text = `${change} ${reason}`;
    const repeated = key && isRepetition(state.answered, keyed, text);
    if (repeated === true) return refused(`${change} again`);
    if (repeated === false) return refused('idempotency_key_reused');
    if (!state.isGranted) return refused('creditor_not_found');
    if (change === 'ENABLED' && state.status !== 'REQUESTED') {
      return refused('integration_not_requested');
    }
    const answered = key ? { ...state.answered, [keyed]: text } : state.answered;
    return { outcome: change, state: { ...state, status: change, reason, answered } };
  },

  shown({ status, reason, isGranted }) {
    const isDisabled = status === 'DISABLED';
    return {
      creditor: isGranted && !isDisabled,
      disabledCreditor: isGranted && isDisabled,
      enablement: isGranted ? { status, reason } : 'creditor_not_found',
    };
  },
};

function operationOf(change: Status): 'enable' | 'disable' | 'set' {
  return change === 'ENABLED' ? 'enable' : change === 'DISABLED' ? 'disable' : 'set';
}

async function startForCreditor(): Promise<System<CreditorRequest>> {
  const integrationId = await registerTestIntegration(fixture);
  const creditorId = randomUUID();
  const subject = integrationId;
  const identity = { kind: 'integration', subject, permissions: [], creditorId } as const;
  const grant = (granted: boolean) =>
    fixture.integrations.grantCreditor({ integrationId, creditorId, granted }, asPlatform);
  await grant(true);

  const send = async (change: Status, reason: string, context: CallContext) => {
    const { enablement } = fixture;
    switch (operationOf(change)) {
      case 'enable':
        return enablement.enableIntegration({ creditorId }, context);
      case 'disable':
        return enablement.disableIntegration({ creditorId, reason }, context);
      case 'set':
        return enablement.setIntegrationStatus(
          { creditorId, status: EnablementStatus[change] },
          context,
        );
    }
  };
  return {
    async send(request) {
      if ('grant' in request) {
        await grant(request.grant === 'granted');
        return request.grant;
      }
      const { change, reason, key } = request;
      return outcomeOf(key, async (context) => {
        const { status } = await send(change, reason, { identity, ...context });
        return EnablementStatus[status] ?? '';
      });
    },
    async read() {
      const grants = await fixture.access.checkGrants({ integrationId, creditorId }, asGateway);
      const { creditor, disabledCreditor } = grants;
      const enablement = await fixture.enablement
        .getIntegrationEnablement({ creditorId }, { identity })
        .then(
          ({ status, reason }) => ({ status: EnablementStatus[status], reason }),
          (fault: Fault) => fault.code,
        );
      return { creditor, disabledCreditor, enablement };
    },
    restart,
  };
}

const STATUSES: readonly Status[] = [
  'REQUESTED',
  'ENABLED',
  'DISABLED',
  'WAITING_FOR_SECOND_ACTIVATION_STEP',
  'FAILED_TO_ENABLE',
];
const changes: fc.Arbitrary<CreditorRequest> = fc
  .record({
    // The two statuses between which the rules distinguish come more often.
    change: fc.constantFrom<Status>('REQUESTED', 'ENABLED', 'REQUESTED', 'ENABLED', ...STATUSES),
    reason: fc.constantFrom('', 'Fraud.'),
    key: keys,
  })
  .map((it) => (it.change === 'DISABLED' ? it : { ...it, reason: '' }));
const grants: fc.Arbitrary<CreditorRequest> = fc.record({
  grant: fc.constantFrom('granted', 'granted', 'revoked'),
});

test('an enablement for a creditor changes as its model does, whatever the requests, their number at once and restarts', async () => {
  const request = fc.oneof({ weight: 6, arbitrary: changes }, { weight: 1, arbitrary: grants });
  const outcomes = await runAgainstModel(creditorModel, startForCreditor, {
    requests: oneOrMore(request),
    runs: 20,
    seed: 20_260_401,
    maxCommands: 20,
  });
  // The sequences reached every rule.
  const rules = ['idempotency_key_reused', 'creditor_not_found', 'integration_not_requested'];
  for (const outcome of [...STATUSES, ...rules]) expect(outcomes).toContain(outcome);
  expect([...outcomes].some((outcome) => outcome.endsWith(' again'))).toBe(true);
}, 60_000);

type RetailerRequest = { enable: string; key: Key } | { grant: 'granted' | 'revoked' };

interface RetailerState {
  isGranted: boolean;
  /** The configuration of the retailer's own enabling; undefined without one in force. */
  inForce: string | undefined;
  /** The configurations of the published events. */
  reported: readonly string[];
  answered: Answered;
}

const retailerModel: Model<RetailerState, RetailerRequest> = {
  start: { isGranted: false, inForce: undefined, reported: [], answered: {} },

  apply(state, request) {
    if ('grant' in request) {
      const isGranted = request.grant === 'granted';
      const inForce = isGranted ? state.inForce : undefined;
      return { outcome: request.grant, state: { ...state, isGranted, inForce } };
    }
    const { enable: config, key } = request;
    const repeated = key && isRepetition(state.answered, key, config);
    if (repeated === true) return { outcome: 'enabled again', state };
    if (repeated === false) return { outcome: 'idempotency_key_reused', state };
    const answered = key ? { ...state.answered, [key]: config } : state.answered;
    const isNew = state.inForce !== config;
    const reported = isNew ? [...state.reported, config] : state.reported;
    return { outcome: 'enabled', state: { isGranted: true, inForce: config, reported, answered } };
  },

  shown: ({ isGranted, reported }) => ({ isGranted, reported }),
};

async function startForRetailer(): Promise<System<RetailerRequest>> {
  const integrationId = await registerTestIntegration(fixture);
  const retailerId = randomUUID();
  fixture.applications.retailers.set(retailerId, 'Harbour Motors');
  return {
    async send(request) {
      if ('grant' in request) {
        const granted = request.grant === 'granted';
        await fixture.integrations.grantRetailer(
          { integrationId, retailerId, granted },
          asPlatform,
        );
        return request.grant;
      }
      const { enable: configJson, key } = request;
      // The platform is one caller in all sequences, so each sequence has keys of its own.
      return outcomeOf(key && `${integrationId} ${key}`, async (context) => {
        const ids = { integrationId, retailerId };
        await fixture.enablement.enableForRetailer(
          { ...ids, configJson },
          { ...asPlatform, ...context },
        );
        return 'enabled';
      });
    },
    async read() {
      const request = { integrationId, retailerId };
      const { retailer: isGranted } = await fixture.access.checkGrants(request, asGateway);
      await fixture.settled();
      const own = fixture.events.filter((event) => event.integrationId === integrationId);
      const contents = own.map(({ enablementId }) =>
        fixture.enablementAsDispatcher.getRetailerEnablement({ enablementId }, asDispatcher),
      );
      const reported = (await Promise.all(contents)).map(({ configJson }) => configJson);
      return { isGranted, reported };
    },
    restart,
  };
}

test('an enabling by a retailer is granted and reported as its model does, whatever the requests, their number at once and restarts', async () => {
  const request: fc.Arbitrary<RetailerRequest> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ enable: fc.constantFrom('', '{"a":1}', '{"a":2}'), key: keys }),
    },
    { weight: 2, arbitrary: fc.record({ grant: fc.constantFrom('granted', 'revoked') }) },
  );
  const outcomes = await runAgainstModel(retailerModel, startForRetailer, {
    requests: oneOrMore(request),
    runs: 10,
    seed: 20_260_402,
    maxCommands: 15,
  });
  expect([...outcomes].toSorted()).toEqual([
    'enabled',
    'enabled again',
    'granted',
    'idempotency_key_reused',
    'revoked',
  ]);
}, 60_000);
