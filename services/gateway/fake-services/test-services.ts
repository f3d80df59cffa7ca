/** For tests: the state of the services that the gateway calls, which the fakes in this folder read and change. */
import type { DescMessage, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { digestApiKey, generateApiKey } from '@creditlane/crypto/api-key';
import type { ApplicationSchema } from '@creditlane/proto/applications/v1/application';
import type { StoredConsentSchema } from '@creditlane/proto/applications/v1/consents_service';
import type { UserSchema } from '@creditlane/proto/applications/v1/directory_service';
import type { PlatformActSchema } from '@creditlane/proto/audit/v1/platform_acts_service';
import { Caller } from '@creditlane/proto/common/v1/access';
import type { CommentSchema } from '@creditlane/proto/conversations/v1/comment';
import type { StoredBureauCredentialsSchema } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import type {
  CheckDocumentLinkResponseSchema,
  PullSchema,
} from '@creditlane/proto/creditfile/v1/credit_file_service';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import type { GetIntegrationEnablementResponseSchema } from '@creditlane/proto/integrations/v1/enablement_service';
import type {
  AuthenticateResponseSchema,
  RegisterIntegrationResponseSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { OwnDeliverySchema } from '@creditlane/proto/webhooks/v1/deliveries_service';
import type { Call } from '@creditlane/rpc/call';
import type { AnyHandler, Handlers, ServiceRoutes } from '@creditlane/rpc/service';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import { newId } from '@creditlane/runtime/ids';

/** The fields of a message. */
type Fields<S extends DescMessage> = Exclude<MessageInitShape<S>, MessageShape<S>>;

export type StoredApplication = MessageInitShape<typeof ApplicationSchema> & { retailerId: string };

/** The latest pull of an applicant, and the latest file. */
interface TestCreditFile {
  pull: Fields<typeof PullSchema>;
  file?: object;
}

type TestKey = { id: string; caller: Caller; permissions: string[] } & Partial<
  Pick<MessageInitShape<typeof AuthenticateResponseSchema>, 'keyId' | 'rateLimit'>
>;

/** The state of the services and the calls they got; tests read and change both directly. */
export class TestServices {
  readonly keys = new Map<string, TestKey>();
  readonly grants = new Set<string>();
  /** Whether a read that has waited is answered with the file, as by the credit-file service of the version before. */
  readsWaitAsBefore = false;
  /** The grants on creditors for whom the integration is disabled. */
  readonly disabledGrants = new Set<string>();
  /** What getIntegrationEnablement answers. */
  enablement: MessageInitShape<typeof GetIntegrationEnablementResponseSchema> = {};
  /** The event filter of the destination of every integration; empty: there is none. */
  eventFilter: string[] = [];
  /** What a registered integration has beside what the request names. */
  registered: Fields<typeof RegisterIntegrationResponseSchema> = {};
  /** The rate limit of the destination of every integration. */
  deliveriesPerSecond: number | undefined;
  /** The deliveries to the destination of every integration. */
  deliveries: Fields<typeof OwnDeliverySchema>[] = [];
  /** Groups of retailers, each by its members. */
  readonly groups: string[][] = [];
  /** The names of the retailers and creditors that may be granted, by id. */
  readonly retailers = new Map<string, string>();
  readonly creditors = new Map<string, string>();
  /** What the administration did in each service. */
  readonly platformActs: Record<
    'applications' | 'integrations',
    Fields<typeof PlatformActSchema>[]
  > = { applications: [], integrations: [] };
  readonly users: MessageInitShape<typeof UserSchema>[] = [];
  readonly applications = new Map<string, StoredApplication>();
  /** Decisions by "application creditor", oldest first. */
  readonly submissions = new Map<string, Decision[]>();
  /** The latest pull and file of each applicant, by the applicant's id. */
  readonly creditFiles = new Map<string, TestCreditFile>();
  /** Who was given every link. */
  linkReaders: MessageInitShape<typeof CheckDocumentLinkResponseSchema> = {};
  /** The credentials of every retailer. */
  bureauCredentials: Fields<typeof StoredBureauCredentialsSchema>[] = [];
  /** The comments of every conversation, newest first. */
  readonly comments: MessageInitShape<typeof CommentSchema>[] = [];
  /** The consents of every applicant, latest first. */
  readonly consents: MessageInitShape<typeof StoredConsentSchema>[] = [];
  /** Every call, with the name of its method. */
  readonly calls: { method: string; call: Call; request: object }[] = [];
  /** The services that were called in memory. */
  readonly peersCalled = new Set<string>();
  /** By method: makes the error that every call of the method throws. */
  readonly failures = new Map<string, () => Error>();
  /** By method: functions that each run before one call is answered, and delay it until they resolve. */
  readonly gates = {
    authenticate: [] as ((call: Call) => Promise<void>)[],
    getDecision: [] as ((call: Call) => Promise<void>)[],
    getConversation: [] as ((call: Call) => Promise<void>)[],
    /** Of reads that may wait alone. */
    readCreditFile: [] as ((call: Call) => Promise<void>)[],
    readDocument: [] as ((call: Call) => Promise<void>)[],
  };

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

  /** Throws the error that `failures` has for the method. */
  record(method: string, request: object, call: Call): void {
    this.calls.push({ method, request, call });
    const failure = this.failures.get(method);
    if (failure !== undefined) throw failure();
  }
}

/**
 * A fake that records each call before its handler runs, and marks every answer to the idempotency key `replayed` as a
 * repeated one. The calls of `unrecorded` are not recorded.
 */
export function recordingFake<S extends DescService>(
  services: TestServices,
  service: S,
  recorded: Partial<Handlers<S>>,
  unrecorded: Partial<Handlers<S>> = {},
): ServiceRoutes {
  const recording = Object.entries(recorded as Record<string, AnyHandler>).map(
    ([method, handler]): [string, AnyHandler] => [
      method,
      async (request: never, call) => {
        services.record(method, request, call);
        const answer = await handler(request, call);
        if (call.idempotency?.key === 'replayed') call.markReplayed();
        return answer;
      },
    ],
  );
  return fakeService(service, { ...Object.fromEntries(recording), ...unrecorded });
}
