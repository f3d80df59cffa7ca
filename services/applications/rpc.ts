/** ApplicationsService as its proto states it. */
import { create } from '@bufbuild/protobuf';
import type { Idempotency } from '@creditlane/idempotency/stored-answers';
import { translateDatabaseErrors } from '@creditlane/postgres/database-fault';
import {
  ApplicationsService,
  CreateApplicationRequestSchema,
  type SubmitApplicationRequest,
  SubmitApplicationRequestSchema,
} from '@creditlane/proto/applications/v1/applications_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound } from '@creditlane/rpc/fault';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import type { Clock } from '@creditlane/runtime/clock';
import { asOutlined, keyedIdempotency, outlinedId } from './answer.ts';
import { newApplication, shownApplication } from './application.ts';
import { createApplication, retailerNotFound } from './create-application.ts';
import { applicationNotFound, retailerScope } from './scope.ts';
import type { Store } from './store.ts';
import { submitApplication } from './submit-application.ts';

export interface RpcDeps {
  store: Store;
  /** Keys the digests of requests that are remembered. */
  digestKey: Uint8Array;
  clock: Clock;
  newId: () => string;
  /** Tells the relay of an event to publish. */
  wakeRelay(): void;
}

/** What is to be mounted for applications. */
export function applicationsRoutes(deps: RpcDeps): ServiceRoutes {
  const { store, clock, newId, wakeRelay } = deps;
  return implement(
    ApplicationsService,
    translateDatabaseErrors({
      async createApplication(request, call) {
        const retailerId = retailerScope(call.identity);
        if (request.retailerId.toLowerCase() !== retailerId) throw retailerNotFound();
        const given = create(CreateApplicationRequestSchema, { ...request, retailerId });
        const application = newApplication(given, clock(), newId);
        return answerOnce(deps, call, (idempotency) =>
          createApplication(store, application, idempotency),
        );
      },

      async getApplication({ applicationId }, { identity }) {
        const application = await store.find(applicationId, retailerScope(identity));
        if (!application) throw applicationNotFound();
        return { application: shownApplication(application) };
      },

      async submitApplication(request, call) {
        const { identity, traceparent } = call;
        const retailerId = retailerScope(identity);
        const integrationId = identity.subject;
        const given = withLowerCaseIds(request);
        const now = clock();
        const answer = await answerOnce(deps, call, (idempotency) =>
          submitApplication(store, given, {
            integrationId,
            retailerId,
            idempotency,
            traceparent,
            now,
          }),
        );
        wakeRelay();
        return answer;
      },

      async locateApplication({ applicationId, contextRetailerId }) {
        return (await store.locate(applicationId, contextRetailerId || null)) ?? {};
      },

      async getSubmission({ applicationId, creditorId }) {
        const submission = await store.findSubmission(applicationId, creditorId);
        if (!submission) throw notFound('submission_not_found', 'There is no such submission.');
        const { retailerId, worksheet, submittedAt } = submission;
        return { retailerId, worksheet: worksheet.terms, submittedAt: submittedAt.toISOString() };
      },
    }),
  );
}

/** Answers with the application that `write` gives the outline of, or that an earlier twin gave. */
async function answerOnce(
  { store, digestKey }: RpcDeps,
  call: Call,
  write: (idempotency: Idempotency | undefined) => Promise<Uint8Array>,
) {
  const idempotency = keyedIdempotency(call.idempotency, digestKey);
  const { response, replayed } = await store.answerOnce(idempotency, () => write(idempotency));
  if (replayed) call.markReplayed();
  const application = await store.find(outlinedId(response), retailerScope(call.identity));
  if (!application) throw applicationNotFound();
  return { application: shownApplication(asOutlined(application, response)) };
}

// As PostgreSQL writes ids, by which they are compared; a creditor named twice is named once.
function withLowerCaseIds(request: SubmitApplicationRequest): SubmitApplicationRequest {
  return create(SubmitApplicationRequestSchema, {
    ...request,
    applicationId: request.applicationId.toLowerCase(),
    submittedByUserId: request.submittedByUserId.toLowerCase(),
    creditorIds: [...new Set(request.creditorIds.map((id) => id.toLowerCase()))],
    consents: request.consents.map((consent) => ({
      ...consent,
      applicantId: consent.applicantId.toLowerCase(),
    })),
  });
}
