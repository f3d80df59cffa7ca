/** A fake of the applications service, which the tests of this service cannot start. */
import { randomUUID } from 'node:crypto';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ApplicantSchema } from '@creditlane/proto/applications/v1/application';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import {
  ConsentsService,
  type GetInquirySubjectResponseSchema,
} from '@creditlane/proto/applications/v1/consents_service';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import type { Endpoint } from '@creditlane/rpc/endpoint';
import { conflict, type Fault } from '@creditlane/rpc/fault';
import { TokenSigner, TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import type { Process } from '@creditlane/runtime/run';

export type TestSubject = MessageInitShape<typeof GetInquirySubjectResponseSchema>;

export interface FakeApplications {
  /** By "application applicant". */
  subjects: Map<string, TestSubject>;
  /** The fault that every call throws instead. */
  failure: Fault | undefined;
  /** Is awaited by every call. */
  delay: Promise<void> | undefined;
  /** Is called after each answer was made. */
  onAnswer: (() => void) | undefined;
  callCount: number;
  /** The applicants whose erasure is refused. */
  failingErasures: Set<string>;
  failedErasures: number;
}

/** The fake, and the parts with which the service calls it. */
export function startFakeApplications() {
  const fake: FakeApplications = {
    subjects: new Map(),
    failure: undefined,
    delay: undefined,
    onAnswer: undefined,
    callCount: 0,
    failingErasures: new Set(),
    failedErasures: 0,
  };
  const { privateKey, publicKey } = generateIdentityKeys();
  const verifier = new TokenVerifier({
    audience: 'applications',
    trusted: { 'credit-file': publicKey },
  });
  const erasure = fakeService(ApplicationsService, {
    async eraseApplicant({ applicantId, retailerId }) {
      if (fake.failure) throw fake.failure;
      if (fake.failingErasures.has(applicantId)) {
        fake.failedErasures += 1;
        throw conflict('erasure_refused', 'The fake refuses this erasure.');
      }
      const found = [...fake.subjects].find(
        ([key, subject]) => key.endsWith(applicantId) && subject.retailerId === retailerId,
      );
      if (found === undefined) return {};
      const [key, { consent: _, ...subject }] = found;
      const erasedAt = subject.applicant?.erasedAt ?? timestampFromDate(new Date());
      const applicant = create(ApplicantSchema, { applicantId, erasedAt });
      fake.subjects.set(key, { ...subject, applicant } as TestSubject);
      return { erased: true, erasedAt };
    },
  });
  const consents = fakeService(ConsentsService, {
    async getInquirySubject({ applicationId, applicantId }) {
      fake.callCount += 1;
      await fake.delay;
      if (fake.failure) throw fake.failure;
      const answer = { ...fake.subjects.get(`${applicationId} ${applicantId}`) };
      fake.onAnswer?.();
      return answer;
    },
  });
  return {
    fake,
    peers: ({ log, metrics }: Process, applications?: Endpoint) => ({
      signer: new TokenSigner({ issuer: 'credit-file', privateKey }),
      endpoints: {
        applications: applications ?? {
          kind: 'memory' as const,
          unary: mountInMemory([consents, erasure], { verifier, log, metrics }),
        },
      },
    }),
  };
}

/** An applicant with a consent. */
export function aSubject(retailerId: string, applicantId: string): TestSubject {
  return {
    retailerId,
    applicationStatus: 'SUBMITTED',
    applicant: {
      applicantId,
      firstName: 'Amélie',
      lastName: 'Tremblay',
      sin: '046454286',
      dateOfBirth: '1987-04-12',
      addressHistory: [
        { streetNo: '9', streetName: 'Old', city: 'Laval', province: 'QC', postalCode: 'H7A 1A1' },
        {
          addressType: 'CURRENT',
          streetNo: '12',
          streetName: 'Birch',
          streetType: 'ST',
          direction: 'NW',
          city: 'Ottawa',
          province: 'ON',
          postalCode: 'K1A 0B1',
        },
      ],
      employmentHistory: [{ employerName: 'Northern Lights', occupation: 'WELDER' }],
    },
    consent: {
      id: randomUUID(),
      applicantId,
      purpose: 'CREDIT_APPLICATION',
      textVersion: '2026-03',
      documentSha256: 'ab'.repeat(32),
      capturedAt: timestampFromDate(new Date('2026-03-01T12:00:00Z')),
      capturedBy: randomUUID(),
      expiresAt: timestampFromDate(new Date('2099-03-01T12:00:00Z')),
    },
  };
}
