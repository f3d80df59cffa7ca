/** ApplicationsService: translates between the messages of the contract and the use cases. */
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  ApplicationsService,
  CreateApplicationRequestSchema,
  type ExportApplicationRequest,
  type SubmitApplicationRequest,
  SubmitApplicationRequestSchema,
} from '@creditlane/proto/applications/v1/applications_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { submissionNotFound } from '@creditlane/rpc/submission-call';
import { type EraseApplicantDeps, eraseApplicant } from './applicant/erase-applicant.ts';
import { maskedApplication } from './application.ts';
import { archiveApplication } from './archive-application.ts';
import { UNSPECIFIED_TEXT_VERSION } from './consents/consent.ts';
import { type CreateApplicationDeps, createApplication } from './create-application.ts';
import { mayActFor } from './directory/user.ts';
import { type ExportApplicationDeps, exportApplication } from './export/export-application.ts';
import { type ReadExportDeps, readExport } from './export/read-export.ts';
import { listApplications } from './list/list-applications.ts';
import { applicationNotFound, retailerOf } from './scope.ts';
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

/**
 * The routes of ApplicationsService to mount. Ids may arrive in either case; tables and comparisons
 * have them in lower case.
 */
export function applicationsRoutes(deps: RpcDeps): ServiceRoutes {
  const { requests, owner, keyRing } = deps;
  return implement(ApplicationsService, {
    async createApplication(request, call) {
      const retailerId = request.retailerId.toLowerCase();
      const lowerCased = create(CreateApplicationRequestSchema, { ...request, retailerId });
      const application = await createApplication(deps, lowerCased, call);
      return { application: maskedApplication(application) };
    },

    async getApplication({ applicationId }, call) {
      const id = applicationId.toLowerCase();
      const retailerId = retailerOf(call.identity);
      const application = await findApplication(requests.of(call), keyRing, id, retailerId);
      if (!application) throw applicationNotFound();
      return { application: maskedApplication(application) };
    },

    async listApplications({ status, referenceNumber, ...page }, call) {
      const filter = { retailerId: retailerOf(call.identity), status, referenceNumber };
      const { items, nextCursor } = await listApplications(requests.of(call), filter, page);
      return { applications: items.map(summaryMessage), nextCursor };
    },

    async submitApplication(request, call) {
      const application = await submitApplication(deps, lowerCaseIds(request), call);
      return { application: maskedApplication(application) };
    },

    async archiveApplication({ applicationId }, call) {
      const application = await archiveApplication(deps, applicationId.toLowerCase(), call);
      return { application: maskedApplication(application) };
    },

    exportApplication: (request, call) => exportApplication(deps, lowerCaseTarget(request), call),

    async getExport({ exportId }) {
      return { payloadJson: await readExport(deps, exportId.toLowerCase()) };
    },

    async eraseApplicant({ applicantId, retailerId }) {
      const applicant = [applicantId.toLowerCase(), retailerId.toLowerCase()] as const;
      return eraseApplicant(deps, ...applicant);
    },

    async locateApplication({ applicationId, contextRetailerId }) {
      const context = contextRetailerId.toLowerCase() || null;
      const location = await locateApplication(owner, applicationId.toLowerCase(), context);
      return location ?? {};
    },

    async getSubmission({ applicationId, creditorId }) {
      const submission = await findSubmission(
        owner,
        applicationId.toLowerCase(),
        creditorId.toLowerCase(),
      );
      if (!submission) throw submissionNotFound();
      const { retailerId, worksheet, submittedAt } = submission;
      return { retailerId, worksheet: worksheet.terms, submittedAt: submittedAt.toISOString() };
    },

    async getSubmissionState({ applicationId, creditorId, userId }) {
      const state = await findSubmissionState(
        owner,
        applicationId.toLowerCase(),
        creditorId.toLowerCase(),
        userId.toLowerCase() || null,
      );
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

function lowerCaseTarget(request: ExportApplicationRequest): ExportApplicationRequest {
  const { applicationId, creditorId, integrationId } = request;
  return {
    ...request,
    applicationId: applicationId.toLowerCase(),
    creditorId: creditorId.toLowerCase(),
    integrationId: integrationId.toLowerCase(),
  };
}

// A creditor that the request names twice gets the application once.
function lowerCaseIds(request: SubmitApplicationRequest): SubmitApplicationRequest {
  return create(SubmitApplicationRequestSchema, {
    ...request,
    applicationId: request.applicationId.toLowerCase(),
    submittedByUserId: request.submittedByUserId.toLowerCase(),
    creditorIds: [...new Set(request.creditorIds.map((id) => id.toLowerCase()))],
    consents: request.consents.map((consent) => ({
      ...consent,
      applicantId: consent.applicantId.toLowerCase(),
      textVersion: consent.textVersion || UNSPECIFIED_TEXT_VERSION,
    })),
  });
}
