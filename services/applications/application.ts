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
import { maskedApplicant, newApplicant } from './applicant.ts';

/**
 * Makes the application that a request describes. Its applicants are all that it needs before it can
 * be submitted, so it begins as SAVED.
 *
 * @throws Fault invalid, naming every field that is wrong
 */
export function newApplication(
  request: CreateApplicationRequest,
  now: Date,
  newId: () => string,
): Application {
  const faults = new FieldFaults();
  const today = calendarDate(now);
  const applicant = (name: 'primaryApplicant' | 'coApplicant') => {
    const given = request[name];
    return given && newApplicant(given, newId(), `/${name}`, today, faults);
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

/** An application as an answer shows it. */
export function shownApplication(application: Application): Application {
  const { primaryApplicant, coApplicant } = application;
  return create(ApplicationSchema, {
    ...application,
    primaryApplicant: primaryApplicant && maskedApplicant(primaryApplicant),
    coApplicant: coApplicant && maskedApplicant(coApplicant),
  });
}
