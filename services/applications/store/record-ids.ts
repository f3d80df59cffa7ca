/**
 * The ids of the records within an application: addresses, employments, vehicles and their options. Where
 * the caller gave none, the id is made from the record's place, on each read: so the records that earlier
 * versions stored have ids too, and always the same ones.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import {
  type Applicant,
  ApplicantSchema,
  VehicleSchema,
  type Worksheet,
  WorksheetSchema,
} from '@creditlane/proto/applications/v1/application';
import { idOfName } from '@creditlane/runtime/ids';

/** The applicant with an id for every address and employment. */
export function withRecordIds(applicant: Applicant): Applicant {
  const { applicantId, addressHistory, employmentHistory } = applicant;
  return create(ApplicantSchema, {
    ...applicant,
    addressHistory: identified(addressHistory, applicantId, 'addressHistory'),
    employmentHistory: identified(employmentHistory, applicantId, 'employmentHistory'),
  });
}

/** The worksheet with an id for its vehicle and every option. Worksheets with the same vehicle have one id. */
export function withVehicleIds(worksheet: Worksheet, applicationId: string): Worksheet {
  const { vehicle } = worksheet;
  if (!vehicle) return worksheet;
  const id = vehicle.id || idOfName(applicationId, 'vehicle', toBinary(VehicleSchema, vehicle));
  return create(WorksheetSchema, {
    ...worksheet,
    vehicle: {
      ...vehicle,
      id,
      addOnOptions: identified(vehicle.addOnOptions, applicationId, `${id} addOnOptions`),
      deductOptions: identified(vehicle.deductOptions, applicationId, `${id} deductOptions`),
    },
  });
}

function identified<R extends { id: string }>(
  records: readonly R[],
  owner: string,
  list: string,
): R[] {
  return records.map((record, index) => ({
    ...record,
    id: record.id || idOfName(owner, list, String(index)),
  }));
}
