/** The rules for a new application. */
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type Application,
  ApplicationSchema,
  ApplicationStatus,
  Relationship,
} from '@creditlane/proto/applications/v1/application';
import type { CreateApplicationRequest } from '@creditlane/proto/applications/v1/applications_service';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import { calendarDate } from '@creditlane/runtime/calendar-date';
import { maskedApplicant, newApplicant } from './applicant/applicant.ts';

/**
 * Makes the application that a request describes. With its applicants the application is complete
 * enough to be submitted, so its first status is SAVED.
 *
 * @throws Fault `invalid_application`, which names every wrong field
 */
export function newApplication(
  request: CreateApplicationRequest,
  now: Date,
  newId: () => string,
): Application {
  const faults = new FieldFaults();
  const today = calendarDate(now);
  const applicant = (name: 'primaryApplicant' | 'coApplicant') => {
    const input = request[name];
    return input && newApplicant(input, newId(), `/${name}`, today, faults);
  };
  const application = create(ApplicationSchema, {
    applicationId: newId(),
    retailerId: request.retailerId,
    type: request.type,
    status: ApplicationStatus.SAVED,
    referenceNumber: request.referenceNumber,
    primaryApplicant: applicant('primaryApplicant'),
    coApplicant: applicant('coApplicant'),
    relationship: request.relationship,
    createdAt: timestampFromDate(now),
  });
  faults.checkPrintable('/referenceNumber', request.referenceNumber);
  if (!request.coApplicant && request.relationship !== Relationship.UNSPECIFIED) {
    faults.add('/relationship', 'must not be given without a co-applicant');
  }
  faults.throwIfAny('invalid_application');
  return application;
}

/** An application as answers show it: with masked applicants. */
export function maskedApplication(application: Application): Application {
  const { primaryApplicant, coApplicant } = application;
  return create(ApplicationSchema, {
    ...application,
    primaryApplicant: primaryApplicant && maskedApplicant(primaryApplicant),
    coApplicant: coApplicant && maskedApplicant(coApplicant),
  });
}
