/** The fields of an exported application that integrations read. */
type Json = Record<string, unknown>;

/**
 * The path of every field that integrations may read, where the document's example has it. The example changes with the document;
 * this list only grows.
 */
export const FIELDS = `
retailerId applicationId creditorId relationship
primaryApplicant: firstName lastName sin dateOfBirth phoneNumber email
coApplicant: firstName lastName sin dateOfBirth phoneNumber email
primaryApplicant.addressHistory.0: addressType apartmentSuite city direction id monthlyRentOrMortgage.amount
  monthlyRentOrMortgage.currency monthsAtAddress pOBoxNumber postalCode province residenceType searchAddress
  streetName streetNo streetType yearsAtAddress
primaryApplicant.employmentHistory.0: additionalIncomeSources.0 additionalIncomeSources.1 apartmentSuite city
  direction employerName employmentPhone frequency grossIncome.amount grossIncome.currency id monthsWorked
  occupation postalCode province status streetName streetNo streetType type yearsWorked
worksheet: programId tierId extraCleanWholesaleValue.amount cleanWholesaleValue.amount
  averageWholesaleValue.amount roughWholesaleValue.amount drivingDistancePerYear isZeroEmissionVehicle taxExempt
  gstPercent gst.amount gstAdjusted pstHstPercent pstHst.amount pstHstAdjusted salePrice.amount cashDown.amount
  rebate.amount registrationFee.amount creditorFee.amount dealerReserve.amount totalFinancedAmount.amount
  worksheetPayment.amount worksheetPayment.currency tradeIn dealerAdminFee gpsFee licenseFee
  installationDeliveryFee ahInsuranceFee lifeInsuranceFee gapInsurance extServiceContract firstPaymentDate
  deliveryDate interestRate term frequency
worksheet.vehicle: id vin status msrp.amount adjustedMsrp odometer.amount odometer.unit uvc year make model trim
  series style colour carfaxClaims addOns.0 deducts.0
worksheet.vehicle.addOnOptions.0: auto averageValue.amount cleanValue.amount extraCleanValue.amount id name
  roughValue.amount
worksheet.vehicle.deductOptions.0: auto averageValue.amount cleanValue.amount extraCleanValue.amount id name
  roughValue.amount`
  .trim()
  .split(/\n(?! )/)
  .flatMap((line) => {
    const [, parent = '', names = ''] = /^(?:([^:]+): )?([^:]*)$/s.exec(line) ?? [];
    return names.split(/\s+/).map((name) => (parent === '' ? name : `${parent}.${name}`));
  });

/** The value that a path such as "worksheet.vehicle.vin" leads to. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((found, step) => (found as Json | undefined)?.[step], value as unknown);
}

/** Whether there is no value, or one that says nothing: an empty text, list or object. */
export function isEmpty(value: unknown): boolean {
  if (value == null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
