/** For tests: the consents of the applications service, as the gateway calls it. */
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  ConsentsService,
  type StoredConsent,
} from '@creditlane/proto/applications/v1/consents_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import { recordingFake, type TestServices } from './test-services.ts';

const NOW = timestampFromDate(new Date('2026-03-02T15:04:05.678Z'));

export const aConsent = (id: string) => ({
  id,
  applicantId: newId(),
  purpose: 'CREDIT_APPLICATION',
  textVersion: 'unspecified',
  capturedAt: NOW,
  capturedBy: newId(),
  recordedAt: NOW,
  expiresAt: yearAfter(NOW),
});

/** Takes any applicant of an application, and any user. */
export function fakeConsentsService(services: TestServices) {
  const requireOwn = (id: string, { identity }: Call) => {
    const application = services.applications.get(id);
    if (application === undefined || application.retailerId !== identity.retailerId) {
      throw notFound('applicant_not_found', 'There is no such applicant of this application.');
    }
  };
  return recordingFake(services, ConsentsService, {
    recordConsent: async (request, call) => {
      requireOwn(request.applicationId, call);
      const { $typeName: _, applicationId: __, capturedAt = NOW, expiresAt, ...given } = request;
      const consent = { id: newId(), ...given, capturedAt, recordedAt: NOW };
      services.consents.unshift({ ...consent, expiresAt: expiresAt ?? yearAfter(capturedAt) });
      return { consent: services.consents[0] ?? {} };
    },
    listConsents: async (request, call) => {
      requireOwn(request.applicationId, call);
      return { consents: services.consents, nextCursor: 'next' };
    },
    revokeConsent: async (request, call) => {
      requireOwn(request.applicationId, call);
      const consent = services.consents.find(({ id }) => id === request.consentId);
      if (!consent) throw notFound('consent_not_found', 'The applicant has no such consent.');
      return { consent: Object.assign(consent, { revokedAt: NOW, revokedBy: request.revokedBy }) };
    },
  });
}

function yearAfter(time: NonNullable<StoredConsent['capturedAt']>) {
  const date = timestampDate(time);
  date.setUTCFullYear(date.getUTCFullYear() + 1);
  return timestampFromDate(date);
}
