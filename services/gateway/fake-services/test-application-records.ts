/** For tests: the applications that the fake of the applications service stores and answers. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type Applicant,
  type ApplicationSchema,
  ApplicationStatus,
  ApplicationType,
} from '@creditlane/proto/applications/v1/application';
import { newId } from '@creditlane/runtime/ids';

export type StoredApplication = MessageInitShape<typeof ApplicationSchema> & { retailerId: string };

/** What every application has, whichever fields a test gave it. */
export const COMPLETE = {
  type: ApplicationType.APPROVAL,
  status: ApplicationStatus.DRAFT,
  primaryApplicant: {
    applicantId: newId(),
    firstName: 'Maya',
    lastName: 'Tremblay',
    dateOfBirth: '1988-07-14',
  },
  createdAt: timestampFromDate(new Date('2026-02-01T10:00:00Z')),
};

export function summaryOf(application: StoredApplication) {
  const { applicationId = '', retailerId, referenceNumber = '' } = application;
  const { type, status, createdAt } = Object.assign(application, { ...COMPLETE, ...application });
  return { applicationId, retailerId, referenceNumber, type, status, createdAt };
}

export function withId(applicant: Applicant) {
  const { $typeName: _, ...given } = applicant;
  return { ...given, applicantId: newId() };
}
