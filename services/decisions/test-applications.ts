/** What stands in for the applications service, which a test of this one cannot start. */
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { type Fault, notFound } from '@creditlane/rpc/fault';
import { generateIdentityKeys, TokenSigner, TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import type { Process } from '@creditlane/runtime/run';
import type { Submitted } from './test-decisions.ts';

/** It knows the submissions put here, or fails. */
export interface ApplicationsStandIn {
  submissions: Submitted[];
  /** What GetSubmission is to throw instead. */
  failure: Fault | undefined;
  /** How often it was asked. */
  asked: number;
}

/** The stand-in, where it is reached, and the signer whose tokens it believes. */
export function standInForApplications({ log, metrics }: Process) {
  const applications: ApplicationsStandIn = { submissions: [], failure: undefined, asked: 0 };
  const { privateKey, publicKey } = generateIdentityKeys();
  const audience = 'applications';
  const verifier = new TokenVerifier({ audience, trusted: { decisions: publicKey } });
  const transport = mountInMemory([routesOf(applications)], { verifier, log, metrics });
  return {
    applications,
    signer: new TokenSigner({ issuer: 'decisions', privateKey }),
    endpoints: { applications: { kind: 'memory', transport } as const },
  };
}

function routesOf(state: ApplicationsStandIn): ServiceRoutes {
  const unused = () => Promise.reject(new Error('the decisions service has no business here'));
  return implement(ApplicationsService, {
    createApplication: unused,
    getApplication: unused,
    submitApplication: unused,
    locateApplication: unused,
    async getSubmission({ applicationId, creditorId }) {
      state.asked += 1;
      if (state.failure) throw state.failure;
      const known = state.submissions.find(
        (it) => it.applicationId === applicationId && it.creditorId === creditorId,
      );
      if (!known) throw notFound('submission_not_found', 'There is no such submission.');
      const { retailerId, worksheet = {} } = known;
      return { retailerId, worksheet, submittedAt: '2026-01-02T03:04:05.678Z' };
    },
  });
}
