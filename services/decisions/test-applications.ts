/** A fake of the applications service, which the tests of this service cannot start. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ApplicationSubmittedSchema } from '@creditlane/proto/applications/v1/applications_events';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import type { Fault } from '@creditlane/rpc/fault';
import { TokenSigner, TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { submissionNotFound } from '@creditlane/rpc/submission';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import type { Process } from '@creditlane/runtime/run';

/** A submission as the applications service stores it. */
export type TestSubmission = MessageInitShape<typeof ApplicationSubmittedSchema> & {
  applicationId: string;
  creditorId: string;
  retailerId: string;
};
export interface FakeApplications {
  /** The submissions that GetSubmission finds. */
  submissions: TestSubmission[];
  /** The fault that every GetSubmission throws instead. */
  failure: Fault | undefined;
  /** How many times GetSubmission was called. */
  callCount: number;
}

/** The fake, its endpoint, and the signer whose tokens the fake accepts. */
export function startFakeApplications({ log, metrics }: Process) {
  const applications: FakeApplications = { submissions: [], failure: undefined, callCount: 0 };
  const { privateKey, publicKey } = generateIdentityKeys();
  const audience = 'applications';
  const verifier = new TokenVerifier({ audience, trusted: { decisions: publicKey } });
  const unary = mountInMemory([routesOf(applications)], { verifier, log, metrics });
  return {
    applications,
    signer: new TokenSigner({ issuer: 'decisions', privateKey }),
    endpoints: { applications: { kind: 'memory', unary } as const },
  };
}

function routesOf(state: FakeApplications): ServiceRoutes {
  return fakeService(ApplicationsService, {
    async getSubmission({ applicationId, creditorId }) {
      state.callCount += 1;
      if (state.failure) throw state.failure;
      const submission = state.submissions.find(
        (it) => it.applicationId === applicationId && it.creditorId === creditorId,
      );
      if (!submission) throw submissionNotFound();
      const { retailerId, worksheet = {} } = submission;
      return { retailerId, worksheet, submittedAt: '2026-01-02T03:04:05.678Z' };
    },
  });
}
