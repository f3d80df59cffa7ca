/** The payload of applicationExported: the whole application, with its submission to one creditor. */
import {
  type Address,
  type Applicant,
  type Application,
  type Employment,
  Relationship,
  type Vehicle,
  type VehicleOption,
  type Worksheet,
} from '@creditlane/proto/applications/v1/application';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';

/**
 * The members in the order of the interface. A field without a value is null where the interface permits
 * null, and undefined otherwise, which JSON leaves out. A list is always an array, except `addOns` and
 * `deducts`, which the interface permits to be null.
 */
export function exportPayload(
  application: Application,
  creditorId: string,
  worksheet: Worksheet,
): object {
  const { retailerId, applicationId, primaryApplicant, coApplicant, relationship } = application;
  return {
    retailerId,
    applicationId,
    creditorId,
    primaryApplicant: primaryApplicant && applicantPayload(primaryApplicant),
    coApplicant: coApplicant ? applicantPayload(coApplicant) : null,
    relationship:
      relationship === Relationship.UNSPECIFIED ? null : (Relationship[relationship] ?? null),
    worksheet: worksheetPayload(worksheet),
  };
}

/** The JSON text of a payload with null for the social insurance number of each applicant; the rest stays as it is. */
export function withoutSins(text: string): string {
  const payload = JSON.parse(text);
  for (const applicant of [payload.primaryApplicant, payload.coApplicant]) {
    if (applicant) applicant.sin = null;
  }
  return JSON.stringify(payload);
}

function applicantPayload(applicant: Applicant) {
  return {
    firstName: applicant.firstName,
    lastName: applicant.lastName,
    sin: applicant.sin || null,
    dateOfBirth: applicant.dateOfBirth,
    phoneNumber: given(applicant.phoneNumber),
    email: given(applicant.email),
    addressHistory: applicant.addressHistory.map(addressPayload),
    employmentHistory: applicant.employmentHistory.map(employmentPayload),
  };
}

function addressPayload(address: Address) {
  return {
    addressType: given(address.addressType),
    apartmentSuite: given(address.apartmentSuite),
    city: given(address.city),
    direction: given(address.direction),
    id: address.id,
    monthlyRentOrMortgage: money(address.monthlyRentOrMortgage),
    monthsAtAddress: address.monthsAtAddress,
    pOBoxNumber: given(address.pOBoxNumber),
    postalCode: given(address.postalCode),
    province: given(address.province),
    residenceType: given(address.residenceType),
    searchAddress: given(address.searchAddress),
    streetName: given(address.streetName),
    streetNo: given(address.streetNo),
    streetType: given(address.streetType),
    yearsAtAddress: address.yearsAtAddress,
  };
}

function employmentPayload(employment: Employment) {
  return {
    additionalIncomeSources: employment.additionalIncomeSources,
    apartmentSuite: given(employment.apartmentSuite),
    city: given(employment.city),
    direction: given(employment.direction),
    employerName: given(employment.employerName),
    employmentPhone: given(employment.employmentPhone),
    frequency: frequencyName(employment.incomeFrequency),
    grossIncome: money(employment.grossIncome),
    id: employment.id,
    monthsWorked: employment.monthsWorked,
    occupation: given(employment.occupation),
    postalCode: given(employment.postalCode),
    province: given(employment.province),
    status: given(employment.status),
    streetName: given(employment.streetName),
    streetNo: given(employment.streetNo),
    streetType: given(employment.streetType),
    type: given(employment.type),
    yearsWorked: employment.yearsWorked,
  };
}

function worksheetPayload(worksheet: Worksheet) {
  const { terms, vehicle } = worksheet;
  return {
    programId: given(worksheet.programId),
    tierId: given(worksheet.tierId),
    vehicle: vehicle && vehiclePayload(vehicle),
    extraCleanWholesaleValue: money(worksheet.extraCleanWholesaleValue),
    cleanWholesaleValue: money(worksheet.cleanWholesaleValue),
    averageWholesaleValue: money(worksheet.averageWholesaleValue),
    roughWholesaleValue: money(worksheet.roughWholesaleValue),
    drivingDistancePerYear: worksheet.drivingDistancePerYear ?? null,
    isZeroEmissionVehicle: worksheet.isZeroEmissionVehicle,
    taxExempt: worksheet.taxExempt,
    gstPercent: worksheet.gstPercent,
    gst: money(worksheet.gst),
    gstAdjusted: worksheet.gstAdjusted,
    pstHstPercent: worksheet.pstHstPercent,
    pstHst: money(worksheet.pstHst),
    pstHstAdjusted: worksheet.pstHstAdjusted,
    salePrice: money(worksheet.salePrice),
    cashDown: money(worksheet.cashDown),
    rebate: money(worksheet.rebate),
    registrationFee: money(worksheet.registrationFee),
    creditorFee: money(worksheet.creditorFee),
    dealerReserve: money(worksheet.dealerReserve),
    totalFinancedAmount: money(worksheet.totalFinancedAmount),
    worksheetPayment: money(worksheet.worksheetPayment),
    tradeIn: worksheet.tradeIn || null,
    dealerAdminFee: worksheet.dealerAdminFee || null,
    gpsFee: worksheet.gpsFee || null,
    licenseFee: worksheet.licenseFee || null,
    installationDeliveryFee: worksheet.installationDeliveryFee || null,
    ahInsuranceFee: worksheet.ahInsuranceFee || null,
    lifeInsuranceFee: worksheet.lifeInsuranceFee || null,
    gapInsurance: worksheet.gapInsurance || null,
    extServiceContract: worksheet.extServiceContract || null,
    firstPaymentDate: given(terms?.firstPaymentDate),
    deliveryDate: worksheet.deliveryDate,
    interestRate: terms?.interestRate,
    term: terms?.term,
    frequency: frequencyName(terms?.frequency),
  };
}

function vehiclePayload(vehicle: Vehicle) {
  return {
    id: vehicle.id,
    vin: given(vehicle.vin),
    status: given(vehicle.status),
    msrp: money(vehicle.msrp),
    adjustedMsrp: vehicle.adjustedMsrp ?? null,
    odometer: odometerPayload(vehicle),
    uvc: given(vehicle.uvc),
    year: vehicle.year,
    make: given(vehicle.make),
    model: given(vehicle.model),
    trim: given(vehicle.trim),
    series: given(vehicle.series),
    style: given(vehicle.style),
    colour: vehicle.colour || null,
    carfaxClaims: vehicle.carfaxClaims || null,
    addOnOptions: vehicle.addOnOptions.map(optionPayload),
    deductOptions: vehicle.deductOptions.map(optionPayload),
    addOns: vehicle.addOns.length > 0 ? vehicle.addOns : null,
    deducts: vehicle.deducts.length > 0 ? vehicle.deducts : null,
  };
}

function odometerPayload({ odometer, odometerKm }: Vehicle) {
  if (odometer) return { amount: odometer.amount, unit: odometer.unit };
  return odometerKm === undefined ? undefined : { amount: odometerKm, unit: 'KM' };
}

function optionPayload(option: VehicleOption) {
  return {
    auto: option.auto,
    averageValue: money(option.averageValue),
    cleanValue: money(option.cleanValue),
    extraCleanValue: money(option.extraCleanValue),
    id: option.id,
    name: given(option.name),
    roughValue: money(option.roughValue),
  };
}

/** The text, or undefined for an empty one, which means that the field is not set. */
function given(text: string | undefined): string | undefined {
  return text || undefined;
}

function money(amount: number | undefined) {
  return amount === undefined ? undefined : { amount, currency: 'CAD' };
}

/** With underscores, unlike the frequencies in webhooks of decisions. */
function frequencyName(frequency: PaymentFrequency | undefined): string | undefined {
  return frequency === undefined || frequency === PaymentFrequency.UNSPECIFIED
    ? undefined
    : PaymentFrequency[frequency];
}
