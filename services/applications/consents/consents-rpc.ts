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

/** The routes of ConsentsService to mount. */
export function consentsRoutes(deps: ConsentsDeps): ServiceRoutes {
  const { requests, owner, keyRing, clock } = deps;
  return implement(ConsentsService, {
    async recordConsent(request, call) {
      return { consent: await recordConsent(deps, request, call) };
    },

    async listConsents(request, call) {
      const { applicationId, applicantId } = request;
      const applicant = { applicationId, applicantId, retailerId: retailerOf(call.identity) };
      const page = await listConsents(requests.of(call), applicant, request);
      return { consents: page.items, nextCursor: page.nextCursor };
    },

    async revokeConsent(request, call) {
      return { consent: await revokeConsent(deps, request, call) };
    },

    async getInquirySubject(request) {
      const subject = await findSubject(owner, request, request, clock());
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
