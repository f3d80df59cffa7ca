/** The rules for the worksheet of a submission. */
import type { Vehicle, Worksheet } from '@creditlane/proto/applications/v1/application';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import type { FieldFaults } from '@creditlane/rpc/field-faults';

const VEHICLE_STATUSES = new Set(['NEW', 'USED']);

const AMOUNTS = ['salePrice', 'cashDown', 'rebate', 'totalFinancedAmount'] as const;

/**
 * Checks the worksheet of a submission. The three terms that a decision may leave out are required
 * here: until a decision sets a term, events carry the worksheet's.
 */
export function checkWorksheet(worksheet: Worksheet, at: string, faults: FieldFaults): void {
  const { terms } = worksheet;
  faults.checkDate(`${at}/firstPaymentDate`, terms?.firstPaymentDate ?? '');
  if (!terms || terms.frequency === PaymentFrequency.UNSPECIFIED) {
    faults.add(`${at}/frequency`, 'must be given');
  }
  const rate = terms?.interestRate;
  if (rate === undefined) faults.add(`${at}/interestRate`, 'must be given');
  else if (rate < 0 || rate > 100) faults.add(`${at}/interestRate`, 'must be from 0 to 100');
  if (terms?.term !== undefined && terms.term < 1) faults.add(`${at}/term`, 'must be at least 1');
  if (worksheet.deliveryDate !== undefined) {
    faults.checkDate(`${at}/deliveryDate`, worksheet.deliveryDate);
  }
  for (const name of AMOUNTS) faults.checkNotNegative(`${at}/${name}`, worksheet[name]);
  if (worksheet.vehicle) checkVehicle(worksheet.vehicle, `${at}/vehicle`, faults);
}

function checkVehicle(vehicle: Vehicle, at: string, faults: FieldFaults): void {
  for (const name of ['vin', 'make', 'model', 'trim'] as const) {
    faults.checkPrintable(`${at}/${name}`, vehicle[name]);
  }
  faults.checkOneOf(`${at}/status`, vehicle.status, VEHICLE_STATUSES);
  faults.checkNotNegative(`${at}/odometerKm`, vehicle.odometerKm);
}
