/** For tests: the services that the gateway calls, reduced to what its tests need, on their real contracts. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { digestApiKey, generateApiKey } from '@creditlane/crypto/api-key';
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import {
  DirectoryService,
  type UserSchema,
} from '@creditlane/proto/applications/v1/directory_service';
import { Caller } from '@creditlane/proto/common/v1/access';
import type { CommentSchema } from '@creditlane/proto/conversations/v1/comment';
import { ConversationsService } from '@creditlane/proto/conversations/v1/conversations_service';
import { type Decision, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import {
  EnablementService,
  EnablementStatus,
  type GetIntegrationEnablementResponseSchema,
} from '@creditlane/proto/integrations/v1/enablement_service';
import {
  AccessService,
  type AuthenticateResponseSchema,
  GrantSide,
  IntegrationsService,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound, unauthenticated } from '@creditlane/rpc/fault';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import { newId } from '@creditlane/runtime/ids';
import { createTestQuotas } from './limits/test-quotas.ts';
import { COMPLETE, type StoredApplication, summaryOf, withId } from './test-applications.ts';
import { fakeDeliveriesService, type TestDelivery } from './test-deliveries-service.ts';
import { fakeDestinations } from './test-destinations.ts';

type TestKey = { id: string; caller: Caller; permissions: string[] } & Partial<
  Pick<MessageInitShape<typeof AuthenticateResponseSchema>, 'keyId' | 'rateLimit'>
>;

/** The state of the services and the calls they got; tests read and change both directly. */
export class TestServices {
  readonly keys = new Map<string, TestKey>();
  readonly grants = new Set<string>();
  /** The grants on creditors for whom the integration is disabled. */
  readonly disabledGrants = new Set<string>();
  /** What getIntegrationEnablement answers. */
  enablement: MessageInitShape<typeof GetIntegrationEnablementResponseSchema> = {};
  /** The deliveries to the destination of every integration. */
  deliveries: TestDelivery[] = [];
  /** Groups of retailers, each by its members. */
  readonly groups: string[][] = [];
  /** The names of the retailers and creditors that may be granted, by id. */
  readonly retailers = new Map<string, string>();
  readonly creditors = new Map<string, string>();
  readonly users: MessageInitShape<typeof UserSchema>[] = [];
  readonly applications = new Map<string, StoredApplication>();
  /** Decisions by "application creditor", oldest first. */
  readonly submissions = new Map<string, Decision[]>();
  /** The comments of every conversation, newest first. */
  readonly comments: MessageInitShape<typeof CommentSchema>[] = [];
  /** Every call, with the name of its method. */
  readonly calls: { method: string; call: Call; request: object }[] = [];
  /** By method: makes the error that every call of the method throws. */
  readonly failures = new Map<string, () => Error>();
  /** By method: functions that each run before one call is answered, and delay it until they resolve. */
  readonly gates = {
    authenticate: [] as ((call: Call) => Promise<void>)[],
    getDecision: [] as ((call: Call) => Promise<void>)[],
    getConversation: [] as ((call: Call) => Promise<void>)[],
  };

  readonly #takeRequests = createTestQuotas();
  issue(caller: Caller, id: string = newId(), permissions: string[] = []): string {
    const key = generateApiKey(false);
    this.keys.set(digestApiKey(key).toString('hex'), { id, caller, permissions, keyId: newId() });
    return key;
  }

  /** The key of a new integration with a grant on the creditor. */
  issueGranted(creditorId: string): string {
    const id = newId();
    this.grants.add(`${id} ${creditorId}`);
    return this.issue(Caller.INTEGRATION, id);
  }

  called(method: string) {
    return this.calls.filter((it) => it.method === method);
  }

  #record(method: string, request: object, call: Call): void {
    this.calls.push({ method, request, call });
    const failure = this.failures.get(method);
    if (failure !== undefined) throw failure();
  }

  #access() {
    return fakeService(AccessService, {
      authenticate: async (request, call) => {
        this.#record('authenticate', request, call);
        await this.gates.authenticate.pop()?.(call);
        const known = this.keys.get(Buffer.from(request.keyDigest).toString('hex'));
        if (known === undefined) throw unauthenticated('key_unknown', 'no caller has this key');
        const { id: callerId, ...owner } = known;
        return { callerId, ...owner };
      },
      // Not recorded: when a quota is taken depends on the time, and not on the request at hand.
      takeRequests: async (request) => this.#takeRequests(request),
      checkGrants: async (request, call) => {
        this.#record('checkGrants', request, call);
        const { integrationId, retailerId, creditorId } = request;
        return {
          retailer: this.grants.has(`${integrationId} ${retailerId}`),
          creditor: this.grants.has(`${integrationId} ${creditorId}`),
          disabledCreditor: this.disabledGrants.has(`${integrationId} ${creditorId}`),
        };
      },
      listGrants: async (request, call) => {
        this.#record('listGrants', request, call);
        const { integrationId, side, limit } = request;
        const named = side === GrantSide.RETAILER ? this.retailers : this.creditors;
        const ids = [...named.keys()].filter((id) => this.grants.has(`${integrationId} ${id}`));
        const grantedAt = timestampFromDate(new Date('2026-02-01T09:00:00Z'));
        const disabled = side === GrantSide.CREDITOR;
        const grants = ids.slice(0, limit).map((id) => ({ id, grantedAt, disabled }));
        return { grants, nextCursor: ids.length > limit ? 'next' : '' };
      },
    });
  }

  integrations() {
    const ok = (method: string) => async (request: object, call: Call) => {
      this.#record(method, request, call);
      return {};
    };
    const onCreditor = (method: string, request: { creditorId: string }, call: Call) => {
      this.#record(method, request, call);
      if (call.identity.creditorId !== request.creditorId) {
        throw notFound('creditor_not_found', 'there is no such creditor');
      }
      if (call.idempotency?.key === 'replayed') call.markReplayed();
    };
    return [
      this.#access(),
      fakeDestinations(this),
      fakeService(EnablementService, {
        enableIntegration: async (request, call) => {
          onCreditor('enableIntegration', request, call);
          return { status: EnablementStatus.ENABLED };
        },
        disableIntegration: async (request, call) => {
          onCreditor('disableIntegration', request, call);
          return { status: EnablementStatus.DISABLED };
        },
        setIntegrationStatus: async (request, call) => {
          onCreditor('setIntegrationStatus', request, call);
          return { status: request.status };
        },
        enableForRetailer: ok('enableForRetailer'),
        getIntegrationEnablement: async (request, call) => {
          onCreditor('getIntegrationEnablement', request, call);
          return this.enablement;
        },
      }),
      fakeService(IntegrationsService, {
        registerIntegration: async (request, call) => {
          this.#record('registerIntegration', request, call);
          if (call.idempotency?.key === 'replayed') call.markReplayed();
          return { integrationId: request.integrationId || newId() };
        },
        issueKey: async (request, call) => {
          this.#record('issueKey', request, call);
          return { keyId: newId(), key: generateApiKey(request.live) };
        },
        revokeKey: ok('revokeKey'),
        grantRetailer: ok('grantRetailer'),
        grantCreditor: ok('grantCreditor'),
        setDestination: async (request, call) => {
          this.#record('setDestination', request, call);
          return { destinationId: newId(), secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
        },
        removeDestination: ok('removeDestination'),
        rotateSecret: async (request, call) => {
          this.#record('rotateSecret', request, call);
          return {
            secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfFJrp1TMY=',
            overlapEndsAt: timestampFromDate(new Date('2026-02-02T12:00:00Z')),
          };
        },
      }),
    ];
  }

  applicationServices() {
    const own = (id: string, { identity }: Call) => {
      const application = this.applications.get(id);
      if (application === undefined || application.retailerId !== identity.retailerId) {
        throw notFound('application_not_found', 'there is no such application');
      }
      return Object.assign(application, { ...COMPLETE, ...application });
    };
    return [
      fakeService(ApplicationsService, {
        createApplication: async (request, call) => {
          this.#record('createApplication', request, call);
          if (request.retailerId !== call.identity.retailerId) {
            throw notFound('retailer_not_found', 'there is no such retailer');
          }
          const { $typeName: _, primaryApplicant, coApplicant, ...given } = request;
          const application: StoredApplication = {
            ...COMPLETE,
            ...given,
            ...(primaryApplicant && { primaryApplicant: withId(primaryApplicant) }),
            ...(coApplicant && { coApplicant: withId(coApplicant) }),
            applicationId: newId(),
          };
          this.applications.set(application.applicationId ?? '', application);
          return { application };
        },
        getApplication: async (request, call) => {
          this.#record('getApplication', request, call);
          return { application: own(request.applicationId, call) };
        },
        submitApplication: async (request, call) => {
          this.#record('submitApplication', request, call);
          const application = own(request.applicationId, call);
          const submittedAt = timestampFromDate(new Date('2026-02-01T11:00:00Z'));
          const { worksheet } = request;
          application.submissions = request.creditorIds.map((creditorId) => ({
            creditorId,
            submittedAt,
            ...(worksheet && { worksheet }),
          }));
          application.status = ApplicationStatus.SUBMITTED;
          return { application };
        },
        listApplications: async (request, call) => {
          this.#record('listApplications', request, call);
          const retailerId = requireRetailer(call);
          const own = [...this.applications.values()].filter((it) => it.retailerId === retailerId);
          return { applications: own.map(summaryOf), nextCursor: 'next' };
        },
        archiveApplication: async (request, call) => {
          this.#record('archiveApplication', request, call);
          const application = own(request.applicationId, call);
          return { application: { ...application, status: ApplicationStatus.ARCHIVED } };
        },
        exportApplication: async (request, call) => {
          this.#record('exportApplication', request, call);
          own(request.applicationId, call);
          if (call.idempotency?.key === 'replayed') call.markReplayed();
          const { $typeName: _, ...ids } = request;
          const at = new Date('2026-02-01T12:00:00Z');
          return { exportId: newId(), ...ids, exportedAt: timestampFromDate(at) };
        },
        locateApplication: async (request, call) => {
          this.#record('locateApplication', request, call);
          const { applicationId, contextRetailerId } = request;
          const { retailerId = '' } = this.applications.get(applicationId) ?? {};
          const group = this.groups.find((members) => members.includes(retailerId)) ?? [retailerId];
          return { retailerId, inContext: group.includes(contextRetailerId) };
        },
        getSubmission: async () => ({}),
      }),
      this.#directory(),
    ];
  }

  #directory() {
    const ok = (method: string) => async (request: object, call: Call) => {
      this.#record(method, request, call);
      return {};
    };
    return fakeService(DirectoryService, {
      registerRetailer: ok('registerRetailer'),
      registerRetailerGroup: ok('registerRetailerGroup'),
      registerUser: ok('registerUser'),
      registerCreditor: ok('registerCreditor'),
      listUsers: async (request, call) => {
        this.#record('listUsers', request, call);
        requireRetailer(call);
        return { users: this.users, nextCursor: '' };
      },
      getRetailers: async (request, call) => {
        this.#record('getRetailers', request, call);
        return {
          retailers: request.retailerIds.map((retailerId) => ({
            retailerId,
            name: this.retailers.get(retailerId) ?? '',
          })),
        };
      },
      getCreditors: async (request, call) => {
        this.#record('getCreditors', request, call);
        return {
          creditors: request.creditorIds.map((creditorId) => ({
            creditorId,
            name: this.creditors.get(creditorId) ?? '',
          })),
        };
      },
    });
  }

  conversations() {
    const createdAt = timestampFromDate(new Date('2026-03-02T15:04:05.678Z'));
    return [
      fakeService(ConversationsService, {
        commentAsCreditor: async (request, call) => {
          this.#record('commentAsCreditor', request, call);
          return { id: newId(), createdAt };
        },
        commentAsRetailerUser: async (request, call) => {
          this.#record('commentAsRetailerUser', request, call);
          if (call.idempotency?.key === 'replayed') call.markReplayed();
          return {};
        },
        getConversation: async (request, call) => {
          this.#record('getConversation', request, call);
          await this.gates.getConversation.pop()?.(call);
          return { comments: this.comments, nextCursor: 'next' };
        },
      }),
    ];
  }

  dispatcher() {
    const record = (method: string, request: object, call: Call) =>
      this.#record(method, request, call);
    return [fakeDeliveriesService(() => this.deliveries, record)];
  }

  decisions() {
    const own = ({ applicationId, creditorId }: Ids, { identity }: Call) => {
      const decisions = this.submissions.get(`${applicationId} ${creditorId}`);
      const retailerId = this.applications.get(applicationId)?.retailerId;
      const sees =
        identity.creditorId === creditorId ||
        (retailerId !== undefined && identity.retailerId === retailerId);
      if (decisions === undefined || !sees) {
        throw notFound('submission_not_found', 'there is no such submission');
      }
      return decisions;
    };
    const replays = new Map<string, Decision>();
    return [
      fakeService(DecisionsService, {
        recordDecision: async (request, call) => {
          this.#record('recordDecision', request, call);
          const decisions = own(request, call);
          const key = call.idempotency?.key ?? newId();
          const earlier = replays.get(key);
          if (earlier !== undefined) {
            call.markReplayed();
            return { decision: earlier };
          }
          if (request.decision !== undefined) {
            decisions.push(request.decision);
            replays.set(key, request.decision);
          }
          return { ...(request.decision && { decision: request.decision }) };
        },
        getDecision: async (request, call) => {
          this.#record('getDecision', request, call);
          await this.gates.getDecision.pop()?.(call);
          const latest = own(request, call).at(-1);
          return { decision: latest ?? { decision: DecisionValue.AWAITING_DECISION } };
        },
        setIncomeStatus: async (request, call) => {
          this.#record('setIncomeStatus', request, call);
          own(request, call);
          return { incomeStatus: request.incomeStatus };
        },
        getIncomeStatus: async (request, call) => {
          this.#record('getIncomeStatus', request, call);
          own(request, call);
          return {};
        },
        listDecisions: async (request, call) => {
          this.#record('listDecisions', request, call);
          const records = own(request, call).map((decision, index) => ({
            sequence: BigInt(index + 1),
            decision,
            recordedAt: timestampFromDate(new Date('2026-02-01T12:00:00Z')),
            integrationId: call.identity.subject,
          }));
          return { decisions: records.reverse(), nextCursor: 'next' };
        },
      }),
    ];
  }
}

function requireRetailer({ identity: { retailerId } }: Call): string {
  if (retailerId === undefined) throw notFound('retailer_not_found', 'there is no such retailer');
  return retailerId;
}

type Ids = { applicationId: string; creditorId: string };
