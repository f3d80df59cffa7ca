/** The faults of changes that the state of an application or of an applicant refuses. */
import { conflict, type Fault } from '@creditlane/rpc/fault';

/** The fault of a change of an archived application. */
export function applicationArchived(): Fault {
  return conflict('application_archived', 'The application is archived.');
}

/** The fault of a change that needs the data of an applicant who was erased. */
export function applicantErased(): Fault {
  return conflict('applicant_erased', 'The personal data of an applicant was erased.');
}
