/** A fake of the applications service, which the tests of this service cannot start. */
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import type { Fault } from '@creditlane/rpc/fault';
import { TokenSigner, TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import type { Process } from '@creditlane/runtime/run';

/** An application as the fake has it. Users are in the fake's own list. */
export interface TestApplication {
  retailerId: string;
  status: ApplicationStatus;
  creditorIds: string[];
}

export interface FakeApplications {
  /** By application id. */
  applications: Map<string, TestApplication>;
  /** The eligible users by "retailer user", each with first and last name. */
  users: Map<string, [firstName: string, lastName: string]>;
  /** The fault that every call throws instead. */
  failure: Fault | undefined;
  callCount: number;
}

/** The fake, its endpoint, and the signer whose tokens the fake accepts. */
export function startFakeApplications() {
  const fake: FakeApplications = {
    applications: new Map(),
    users: new Map(),
    failure: undefined,
    callCount: 0,
  };
  const { privateKey, publicKey } = generateIdentityKeys();
  const audience = 'applications';
  const verifier = new TokenVerifier({ audience, trusted: { conversations: publicKey } });
  return {
    fake,
    /** The parts with which the service calls the fake, or another endpoint. */
    peers: ({ log, metrics }: Process, applications?: Endpoint) => ({
      signer: new TokenSigner({ issuer: 'conversations', privateKey }),
      endpoints: {
        applications: applications ?? {
          kind: 'memory' as const,
          unary: mountInMemory([routesOf(fake)], { verifier, log, metrics }),
        },
      },
    }),
  };
}

function routesOf(fake: FakeApplications): ServiceRoutes {
  return fakeService(ApplicationsService, {
    async getSubmissionState({ applicationId, creditorId, userId }) {
      fake.callCount += 1;
      if (fake.failure) throw fake.failure;
      const application = fake.applications.get(applicationId);
      if (application === undefined) return {};
      const { retailerId, status, creditorIds } = application;
      const [firstName, lastName] = fake.users.get(`${retailerId} ${userId}`) ?? [];
      return {
        retailerId,
        applicationStatus: status,
        submitted: creditorIds.includes(creditorId),
        ...(firstName !== undefined && { user: { firstName, lastName } }),
      };
    },
  });
}

/** A submitted application of this retailer. */
export function submittedTo(retailerId: string, creditorIds: string[]): TestApplication {
  return { retailerId, creditorIds, status: ApplicationStatus.SUBMITTED };
}
