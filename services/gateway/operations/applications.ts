/** The operations on applications for credit. */
import {
  type Application,
  ApplicationSchema,
  SubmissionSchema,
  type Worksheet,
  WorksheetSchema,
} from '@creditlane/proto/applications/v1/application';
import {
  type ApplicationsService,
  CreateApplicationRequestSchema,
  SubmitApplicationRequestSchema,
} from '@creditlane/proto/applications/v1/applications_service';
import { LoanTermsSchema } from '@creditlane/proto/common/v1/terms';
import type { Client } from '@creditlane/rpc/client';
import { answered, type Handlers, movingFields } from '../handler.ts';
import { messageReader, messageWriter } from '../json-message.ts';
import type { JsonObject } from '../openapi-document.ts';
import { refusalOfFields } from '../validation-messages.ts';

const readCreation = messageReader(CreateApplicationRequestSchema);
const readSubmission = messageReader(SubmitApplicationRequestSchema);
const writeTerms = messageWriter(LoanTermsSchema);
const writeWorksheet = messageWriter(WorksheetSchema, { except: ['terms'] });
const writeSubmission = messageWriter(SubmissionSchema, { except: ['worksheet'] });
const writeApplication = messageWriter(ApplicationSchema, { except: ['submissions'] });

export function applicationOperations(applications: Client<typeof ApplicationsService>): Handlers {
  return {
    async createApplication({ header, body, context }) {
      const retailerId = retailerOf(body.retailerId as string | undefined, header);
      const request = { ...readCreation(body), retailerId };
      return applicationObject(await applications.createApplication(request, context));
    },

    async getApplication({ path, context }) {
      const { applicationId = '' } = path;
      return applicationObject(await applications.getApplication({ applicationId }, context));
    },

    async submitApplication({ path, body, context }) {
      const { applicationId = '' } = path;
      const worksheet = body.worksheet as JsonObject;
      const request = {
        // In JSON the terms of the loan stand among the worksheet's other figures.
        ...readSubmission({ ...body, worksheet: { ...worksheet, terms: worksheet } }),
        applicationId,
      };
      const submitting = applications.submitApplication(request, context);
      return applicationObject(
        await movingFields([['/worksheet/terms', '/worksheet']], submitting),
      );
    },
  };
}

function retailerOf(
  inBody: string | undefined,
  header: Record<string, string | undefined>,
): string {
  const inHeader = header['x-service-retailer-id'];
  const retailerId = inBody?.toLowerCase() ?? inHeader;
  const pointer = '/retailerId';
  if (retailerId === undefined) {
    const message = 'is required unless X-Service-Retailer-ID names the retailer';
    throw refusalOfFields([{ pointer, message }]);
  }
  if (inHeader !== undefined && inHeader !== retailerId) {
    throw refusalOfFields([{ pointer, message: 'must be the retailer of X-Service-Retailer-ID' }]);
  }
  return retailerId;
}

function applicationObject(answer: { application?: Application | undefined }): JsonObject {
  const application = answered(answer.application);
  const submissions = application.submissions.map((submission) => ({
    ...writeSubmission(submission),
    worksheet: submission.worksheet === undefined ? {} : worksheetObject(submission.worksheet),
  }));
  return { ...writeApplication(application), submissions };
}

function worksheetObject(worksheet: Worksheet): JsonObject {
  const terms = worksheet.terms === undefined ? {} : writeTerms(worksheet.terms);
  return { ...terms, ...writeWorksheet(worksheet) };
}
