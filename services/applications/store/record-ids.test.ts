import { create } from '@bufbuild/protobuf';
import { ApplicantSchema, WorksheetSchema } from '@creditlane/proto/applications/v1/application';
import { isCanonicalUuid } from '@creditlane/runtime/ids';
import { expect, test } from 'vitest';
import { withRecordIds, withVehicleIds } from './record-ids.ts';

const OWN_ID = '0198c0de-0000-7000-8000-0000000ad001';

test('an address and an employment keep the id of the caller, and otherwise get an id that never changes', () => {
  const applicant = create(ApplicantSchema, {
    applicantId: 'maya',
    addressHistory: [{ id: OWN_ID }, { city: 'Montreal' }, { city: 'Montreal' }],
    employmentHistory: [{}, {}],
  });
  const { addressHistory, employmentHistory } = withRecordIds(applicant);
  const ids = [...addressHistory, ...employmentHistory].map(({ id }) => id);
  expect(ids[0]).toBe(OWN_ID);
  expect(ids.every(isCanonicalUuid)).toBe(true);
  expect(new Set(ids).size).toBe(5);
  expect(addressHistory[1]?.city).toBe('Montreal');
  expect(withRecordIds(applicant)).toEqual(withRecordIds(applicant));
  const other = withRecordIds(create(ApplicantSchema, { ...applicant, applicantId: 'leo' }));
  expect(other.addressHistory[1]?.id).not.toBe(addressHistory[1]?.id);
});

test('a vehicle has one id in every worksheet of an application, and another vehicle has another', () => {
  const idOf = (vin: string, applicationId = 'application') =>
    withVehicleIds(create(WorksheetSchema, { vehicle: { vin } }), applicationId).vehicle?.id;
  expect(idOf('V1')).toBe(idOf('V1'));
  expect(new Set([idOf('V1'), idOf('V2'), idOf('V1', 'other')]).size).toBe(3);
  const own = create(WorksheetSchema, { vehicle: { id: 'stock 42', addOnOptions: [{}, {}] } });
  const { vehicle } = withVehicleIds(own, 'application');
  expect(vehicle?.id).toBe('stock 42');
  expect(new Set(vehicle?.addOnOptions.map(({ id }) => id)).size).toBe(2);
});

test('a worksheet without a vehicle gets none', () => {
  expect(withVehicleIds(create(WorksheetSchema), 'application').vehicle).toBeUndefined();
});
