/** For tests: exports of applications to integrations, as events of the bus, with their payloads. */
import { randomUUID } from 'node:crypto';
import { toMessage } from '@creditlane/events/message';
import type { TestFixture } from '../test-fixture.ts';

/** The social insurance number in every payload. */
export const SIN = '046454286';

/** The least that the payload's schema permits. */
export function aPayload({ retailerId, creditorId, applicationId }: TestFixture) {
  return {
    retailerId,
    applicationId,
    creditorId,
    primaryApplicant: {
      firstName: 'Maya',
      lastName: 'Tremblay',
      sin: SIN,
      dateOfBirth: '1988-07-14',
      addressHistory: [],
      employmentHistory: [],
    },
    coApplicant: null,
    relationship: null,
    worksheet: {
      drivingDistancePerYear: null,
      tradeIn: null,
      dealerAdminFee: null,
      gpsFee: null,
      licenseFee: null,
      installationDeliveryFee: null,
      ahInsuranceFee: null,
      lifeInsuranceFee: null,
      gapInsurance: null,
      extServiceContract: null,
      firstPaymentDate: '2027-01-15',
      interestRate: 7.49,
      frequency: 'BI_WEEKLY',
    },
  };
}

interface TestExport {
  integrationId: string;
  /** Without one, the least that the schema permits. */
  payload?: object;
  /** The code of the fault with which the applications service answers instead. */
  faultCode?: string;
  creditorId?: string;
}

/** An event about an export to an integration; the applications service has its payload. */
export function exported(
  fixture: TestFixture,
  { integrationId, payload = aPayload(fixture), faultCode, ...of }: TestExport,
) {
  const { retailerId, applicationId, applications } = fixture;
  const { creditorId = fixture.creditorId } = of;
  const exportId = randomUUID();
  applications.exports.set(exportId, faultCode ?? payload);
  const time = new Date();
  return toMessage(
    {
      id: exportId,
      topic: 'creditlane.applications.v1',
      key: applicationId,
      type: 'creditlane.applications.v1.ApplicationExported',
      payload: {
        exportId,
        applicationId,
        creditorId,
        retailerId,
        integrationId,
        exportedAt: time.toISOString(),
      },
      time,
    },
    'applications',
  );
}
