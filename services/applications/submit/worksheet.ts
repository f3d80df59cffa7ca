/** The rules for the worksheet of a submission. */
import { create } from '@bufbuild/protobuf';
import {
  type Vehicle,
  type VehicleOption,
  type Worksheet,
  WorksheetSchema,
} from '@creditlane/proto/applications/v1/application';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import type { FieldFaults } from '@creditlane/rpc/field-faults';
import { checkTerms } from '@creditlane/rpc/loan-terms';
import { findVinFault, normalVin } from './vin.ts';

const AMOUNTS = [
  'salePrice',
  'cashDown',
  'rebate',
  'totalFinancedAmount',
  'extraCleanWholesaleValue',
  'cleanWholesaleValue',
  'averageWholesaleValue',
  'roughWholesaleValue',
  'drivingDistancePerYear',
  'gst',
  'pstHst',
  'registrationFee',
  'creditorFee',
  'dealerReserve',
  'worksheetPayment',
] as const;

const PERCENTAGES = ['gstPercent', 'pstHstPercent'] as const;

const TEXTS = [
  'tradeIn',
  'dealerAdminFee',
  'gpsFee',
  'licenseFee',
  'installationDeliveryFee',
  'ahInsuranceFee',
  'lifeInsuranceFee',
  'gapInsurance',
  'extServiceContract',
] as const;

const VEHICLE_TEXTS = [
  'id',
  'vin',
  'status',
  'make',
  'model',
  'trim',
  'uvc',
  'series',
  'style',
  'colour',
  'carfaxClaims',
] as const;

const OPTION_VALUES = ['averageValue', 'cleanValue', 'extraCleanValue', 'roughValue'] as const;

/** The worksheet of a request, with the vehicle's identification number as it is stored. */
export function readWorksheet(worksheet: Worksheet = create(WorksheetSchema)): Worksheet {
  const { vehicle } = worksheet;
  if (vehicle === undefined) return worksheet;
  return { ...worksheet, vehicle: { ...vehicle, vin: normalVin(vehicle.vin) } };
}

/**
 * Checks the worksheet of a submission. The three terms that a decision may leave out are required
 * here: until a decision sets a term, events carry the worksheet's.
 */
export function checkWorksheet(worksheet: Worksheet, at: string, faults: FieldFaults): void {
  const { terms } = worksheet;
  const { deliveryDate } = worksheet;
  checkTerms({ firstPaymentDate: '', ...terms, deliveryDate }, at, faults);
  if (!terms || terms.frequency === PaymentFrequency.UNSPECIFIED) {
    faults.add(`${at}/frequency`, 'must be given');
  }
  if (terms?.interestRate === undefined) faults.add(`${at}/interestRate`, 'must be given');
  for (const name of AMOUNTS) faults.checkNotNegative(`${at}/${name}`, worksheet[name]);
  for (const name of PERCENTAGES) faults.checkRange(`${at}/${name}`, worksheet[name], 0, 100);
  for (const name of TEXTS) faults.checkPrintable(`${at}/${name}`, worksheet[name]);
  if (worksheet.vehicle) checkVehicle(worksheet.vehicle, `${at}/vehicle`, faults);
}

function checkVehicle(vehicle: Vehicle, at: string, faults: FieldFaults): void {
  const { odometer, odometerKm, addOnOptions, deductOptions } = vehicle;
  for (const name of VEHICLE_TEXTS) faults.checkPrintable(`${at}/${name}`, vehicle[name]);
  const vinFault = vehicle.vin === '' ? undefined : findVinFault(vehicle.vin, vehicle.year);
  if (vinFault !== undefined) faults.add(`${at}/vin`, vinFault);
  for (const name of ['msrp', 'adjustedMsrp', 'odometerKm'] as const) {
    faults.checkNotNegative(`${at}/${name}`, vehicle[name]);
  }
  if (odometer) {
    faults.checkNotNegative(`${at}/odometer/amount`, odometer.amount);
    faults.checkPrintable(`${at}/odometer/unit`, odometer.unit);
    if (odometerKm !== undefined) {
      faults.add(`${at}/odometerKm`, 'must not be given beside odometer');
    }
  }
  for (const [name, options] of Object.entries({ addOnOptions, deductOptions })) {
    for (const [index, option] of options.entries()) {
      checkOption(option, `${at}/${name}/${index}`, faults);
    }
  }
  for (const name of ['addOns', 'deducts'] as const) {
    for (const [index, text] of vehicle[name].entries()) {
      faults.checkPrintable(`${at}/${name}/${index}`, text);
    }
  }
}

function checkOption(option: VehicleOption, at: string, faults: FieldFaults): void {
  faults.checkPrintable(`${at}/name`, option.name);
  for (const name of OPTION_VALUES) faults.checkNotNegative(`${at}/${name}`, option[name]);
}
