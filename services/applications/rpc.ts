/** ApplicationsService: translates between the messages of the contract and the use cases. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { applicationNotFound, submissionNotFound } from '@creditlane/rpc/submission';
import { type EraseApplicantDeps, eraseApplicant } from './applicant/erase-applicant.ts';
import { maskedApplication } from './application.ts';
import { archiveApplication } from './archive-application.ts';
import { UNSPECIFIED_TEXT_VERSION } from './consents/consent.ts';
import { type CreateApplicationDeps, createApplication } from './create-application.ts';
import { mayActFor } from './directory/user.ts';
import { type ExportApplicationDeps, exportApplication } from './export/export-application.ts';
import { type ReadExportDeps, readExport } from './export/read-export.ts';
import { listApplications } from './list/list-applications.ts';
import { retailerOf } from './scope.ts';
import type { ApplicationSummary } from './store/application-summaries.ts';
import { findApplication, locateApplication } from './store/applications.ts';
import { findSubmission, findSubmissionState } from './store/submissions.ts';
import { type SubmitApplicationDeps, submitApplication } from './submit/submit-application.ts';

/** `requests` runs the tenants' own requests; `owner` those of other services, which ask on behalf of no tenant. */
export type RpcDeps = CreateApplicationDeps &
  SubmitApplicationDeps &
  ExportApplicationDeps &
  ReadExportDeps &
  EraseApplicantDeps;

/** The routes of ApplicationsService to mount. */
export function applicationsRoutes(deps: RpcDeps): ServiceRoutes {
  const { requests, owner, keyRing } = deps;
  return implement(ApplicationsService, {
    async createApplication(request, call) {
      const application = await createApplication(deps, request, call);
      return { application: maskedApplication(application) };
    },

    async getApplication({ applicationId }, call) {
      const db = requests.of(call);
      const retailerId = retailerOf(call.identity);
      const application = await findApplication(db, keyRing, applicationId, retailerId);
      if (!application) throw applicationNotFound();
      return { application: maskedApplication(application) };
    },

    async listApplications({ status, referenceNumber, ...page }, call) {
      const filter = { retailerId: retailerOf(call.identity), status, referenceNumber };
      const { items, nextCursor } = await listApplications(requests.of(call), filter, page);
      return { applications: items.map(summaryMessage), nextCursor };
    },

    async submitApplication(request, call) {
      // The contract's rule `unique` lets one creditor through whose id is written in both cases.
      const creditorIds = [...new Set(request.creditorIds)];
      const consents = request.consents.map((consent) => ({
        ...consent,
        textVersion: consent.textVersion || UNSPECIFIED_TEXT_VERSION,
      }));
      const completed = { ...request, creditorIds, consents };
      const application = await submitApplication(deps, completed, call);
      return { application: maskedApplication(application) };
    },

    async archiveApplication({ applicationId }, call) {
      const application = await archiveApplication(deps, applicationId, call);
      return { application: maskedApplication(application) };
    },

    exportApplication: (request, call) => exportApplication(deps, request, call),

    async getExport(request) {
      return { payloadJson: await readExport(deps, request) };
    },

    eraseApplicant: ({ applicantId, retailerId }, call) =>
      eraseApplicant(deps, applicantId, retailerId, call),

    async locateApplication({ applicationId, contextRetailerId }) {
      return (await locateApplication(owner, applicationId, contextRetailerId || null)) ?? {};
    },

    async getSubmission({ applicationId, creditorId }) {
      const submission = await findSubmission(owner, applicationId, creditorId);
      if (!submission) throw submissionNotFound();
      const { retailerId, worksheet, submittedAt } = submission;
      return { retailerId, worksheet: worksheet.terms, submittedAt: submittedAt.toISOString() };
    },

    async getSubmissionState({ applicationId, creditorId, userId }) {
      const state = await findSubmissionState(owner, applicationId, creditorId, userId || null);
      if (!state) return {};
      const { retailer, status, submitted, user } = state;
      return {
        retailerId: retailer.id,
        applicationStatus: status,
        submitted,
        ...(user && mayActFor(user, retailer) && { user: nameOf(user) }),
      };
    },
  });
}

const nameOf = ({ firstName, lastName }: { firstName: string; lastName: string }) => ({
  firstName,
  lastName,
});

function summaryMessage({ createdAt, submissions, ...summary }: ApplicationSummary) {
  return {
    ...summary,
    createdAt: timestampFromDate(createdAt),
    submissions: submissions.map(({ creditorId, submittedAt }) => ({
      creditorId,
      submittedAt: timestampFromDate(submittedAt),
    })),
  };
}
