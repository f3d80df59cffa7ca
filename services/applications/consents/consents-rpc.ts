/** ConsentsService: translates between the messages of the contract and the use cases. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Queryable } from '@creditlane/postgres/statement';
import { ConsentsService } from '@creditlane/proto/applications/v1/consents_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { retailerOf } from '../scope.ts';
import { applicantFromRow } from '../store/application-row.ts';
import { findSubject } from '../store/consents.ts';
import { type ChangeConsentsDeps, recordConsent, revokeConsent } from './change-consents.ts';
import { listConsents } from './list-consents.ts';

export interface ConsentsDeps extends ChangeConsentsDeps {
  /** For the credit-file service, which asks on behalf of no tenant; the tenants' own requests run in `requests`. */
  owner: Queryable;
  /** Opens the sealed applicants of inquiries. */
  keyRing: KeyRing;
}

/**
 * The routes of ConsentsService to mount. Ids may arrive in either case; tables and comparisons have them in
 * lower case.
 */
export function consentsRoutes(deps: ConsentsDeps): ServiceRoutes {
  const { requests, owner, keyRing, clock } = deps;
  return implement(ConsentsService, {
    async recordConsent(request, call) {
      const capturedBy = request.capturedBy.toLowerCase();
      const lowerCased = { ...request, ...applicantOf(request), capturedBy };
      return { consent: await recordConsent(deps, lowerCased, call) };
    },

    async listConsents(request, call) {
      const applicant = { ...applicantOf(request), retailerId: retailerOf(call.identity) };
      const page = await listConsents(requests.of(call), applicant, request);
      return { consents: page.items, nextCursor: page.nextCursor };
    },

    async revokeConsent(request, call) {
      const consentId = lowerCase(request.consentId);
      const revokedBy = lowerCase(request.revokedBy);
      const lowerCased = { ...request, ...applicantOf(request), consentId, revokedBy };
      return { consent: await revokeConsent(deps, lowerCased, call) };
    },

    async getInquirySubject(request) {
      const applicant = applicantOf(request);
      const subject = await findSubject(owner, applicant, request.purpose, clock());
      if (!subject) return {};
      const { retailerId, status: applicationStatus, consent } = subject;
      return {
        retailerId,
        applicationStatus,
        applicant: applicantFromRow(subject.applicant, retailerId, keyRing),
        ...(consent && { consent }),
      };
    },
  });
}

const lowerCase = (id: string) => id.toLowerCase();

const applicantOf = (request: { applicationId: string; applicantId: string }) => ({
  applicationId: lowerCase(request.applicationId),
  applicantId: lowerCase(request.applicantId),
});
