/** The operations on applications for credit. */
import {
  ApplicantSchema,
  type Application,
  ApplicationSchema,
  ApplicationSummarySchema,
  SubmissionSchema,
  type Worksheet,
  WorksheetSchema,
} from '@creditlane/proto/applications/v1/application';
import {
  type ApplicationsService,
  CreateApplicationRequestSchema,
  ListApplicationsRequestSchema,
  SubmitApplicationRequestSchema,
} from '@creditlane/proto/applications/v1/applications_service';
import { LoanTermsSchema } from '@creditlane/proto/common/v1/terms';
import type { Client } from '@creditlane/rpc/client';
import { invalidFields } from '@creditlane/rpc/fault';
import { defineHandlers } from './handlers.ts';
import { messageReader, messageWriter } from './service-messages/json-message.ts';
import {
  answerPage,
  renameRefusedFields,
  requireRecord,
} from './service-messages/service-answers.ts';

const readCreation = messageReader(CreateApplicationRequestSchema, {
  except: ['primaryApplicant', 'coApplicant'],
});
/** The applications service makes the ids of applicants, and the time of their erasure. */
const readApplicant = messageReader(ApplicantSchema, { except: ['applicantId', 'erasedAt'] });
const readSubmission = messageReader(SubmitApplicationRequestSchema, { except: ['applicationId'] });
const readList = messageReader(ListApplicationsRequestSchema);
const writeSummary = messageWriter(ApplicationSummarySchema);
const writeTerms = messageWriter(LoanTermsSchema);
const writeWorksheet = messageWriter(WorksheetSchema, { except: ['terms'] });
const writeSubmission = messageWriter(SubmissionSchema, { except: ['worksheet'] });
const writeApplication = messageWriter(ApplicationSchema, { except: ['submissions'] });

export function applicationOperations(applications: Client<typeof ApplicationsService>) {
  return defineHandlers({
    async createApplication({ header, body, context }) {
      const retailerId = requireRetailer(body.retailerId, header['x-service-retailer-id']);
      const { primaryApplicant, coApplicant } = body;
      const request = {
        ...readCreation(body),
        retailerId,
        primaryApplicant: readApplicant(primaryApplicant),
        ...(coApplicant && { coApplicant: readApplicant(coApplicant) }),
      };
      const { application } = await applications.createApplication(request, context);
      return applicationJson(application);
    },

    async listApplications({ query, context }) {
      const call = applications.listApplications(readList(query), context);
      return await answerPage(call, (page) => page.applications.map(writeSummary));
    },

    async archiveApplication({ path, context }) {
      const { application } = await applications.archiveApplication(path, context);
      return applicationJson(application);
    },

    async getApplication({ path, context }) {
      const { application } = await applications.getApplication(path, context);
      return applicationJson(application);
    },

    async submitApplication({ path, body, context }) {
      const { worksheet } = body;
      // In JSON the terms of the loan are properties of the worksheet; in the message they are in `terms`.
      const submission = readSubmission({ ...body, worksheet: { ...worksheet, terms: worksheet } });
      const { application } = await renameRefusedFields(
        applications.submitApplication({ ...submission, ...path }, context),
        [{ from: '/worksheet/terms', to: '/worksheet' }],
      );
      return applicationJson(application);
    },
  });
}

/** The retailer of a new application. Throws an `invalid` Fault when no retailer is named, or two are. */
function requireRetailer(inBody: string | undefined, inHeader: string | undefined): string {
  const retailerId = inBody ?? inHeader;
  const pointer = '/retailerId';
  if (retailerId === undefined) {
    const message = 'is required unless X-Service-Retailer-ID names the retailer';
    throw invalidFields('invalid_request', [{ pointer, message }]);
  }
  if (inHeader !== undefined && inHeader !== retailerId) {
    throw invalidFields('invalid_request', [
      { pointer, message: 'must be the retailer of X-Service-Retailer-ID' },
    ]);
  }
  return retailerId;
}

function applicationJson(record: Application | undefined) {
  const application = requireRecord(record);
  const submissions = application.submissions.map((submission) => ({
    ...writeSubmission(submission),
    worksheet: submission.worksheet === undefined ? {} : worksheetJson(submission.worksheet),
  }));
  return { ...writeApplication(application), submissions };
}

function worksheetJson(worksheet: Worksheet) {
  const terms = worksheet.terms === undefined ? {} : writeTerms(worksheet.terms);
  return { ...terms, ...writeWorksheet(worksheet) };
}
