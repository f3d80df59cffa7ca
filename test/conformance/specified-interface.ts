// The interface specification 1.0.0 as data, which the tests of conformance and docs/conformance.md are made from.

export interface SpecifiedOperation {
  id: string;
  method: 'GET' | 'POST';
  path: string;
  /** The statuses of its own; those that every operation has are tested elsewhere. */
  statuses: number[];
  /** The fields that its body must have. */
  required: string[];
  /** The values of the fields that have a closed list of them. */
  values: Record<string, string[]>;
}

export interface SpecifiedEvent {
  name: string;
  path: string;
  signatureHeader: string;
  /** The value of `status` in the payload, where it has one. */
  status: string | undefined;
  required: string[];
}

const SUBMISSION = '/applications/{applicationId}/creditors/{creditorId}';
const CREDIT_FILE = '/applications/{applicationId}/credit-file/{applicantId}';
const FREQUENCIES = ['MONTHLY', 'SEMI_MONTHLY', 'WEEKLY', 'BI_WEEKLY'];
const PROVINCES = 'AB BC MB NB NL NS NT NU ON PE QC SK YT'.split(' ');
const WRITABLE_DECISIONS = [
  ...['BOOKED', 'DOCUMENTS_INCOMPLETE', 'APPROVED', 'CONDITIONALLY_APPROVED'],
  ...['WITHDRAWN', 'DECLINED', 'INCOMPLETE', 'PENDING_BANK_CONNECTION'],
];

function operation(
  id: string,
  method: 'GET' | 'POST',
  path: string,
  statuses: number[],
  body: { required?: string[]; values?: Record<string, string[]> } = {},
): SpecifiedOperation {
  return { id, method, path, statuses, required: [], values: {}, ...body };
}

export const SPECIFIED_OPERATIONS: SpecifiedOperation[] = [
  operation('getDecision', 'GET', `${SUBMISSION}/decision`, [200, 400, 401]),
  operation('recordDecision', 'POST', `${SUBMISSION}/decision`, [200, 400, 401], {
    required: ['applicationId', 'decision'],
    values: {
      decision: WRITABLE_DECISIONS,
      paymentFrequency: FREQUENCIES,
      taxProvince: PROVINCES,
    },
  }),
  operation('commentAsCreditor', 'POST', `${SUBMISSION}/comment`, [200, 400, 401], {
    required: ['userName', 'comment'],
  }),
  operation('setIncomeStatus', 'POST', `${SUBMISSION}/income-status`, [200, 400, 401], {
    required: ['incomeStatus'],
    values: { incomeStatus: ['REQUIRED', 'VERIFIED', 'WAIVED'] },
  }),
  operation(
    'commentAsRetailerUser',
    'POST',
    `${SUBMISSION}/retailer-comment`,
    [204, 400, 401, 403, 404],
    { required: ['userId', 'comment'] },
  ),
  operation('enableIntegration', 'POST', '/creditors/enable-integration', [200, 400, 401, 409], {
    required: ['creditorId'],
  }),
  operation('disableIntegration', 'POST', '/creditors/disable-integration', [200, 400, 401], {
    required: ['creditorId'],
  }),
  operation('setIntegrationStatus', 'POST', '/creditors/integration-status', [200, 400, 401, 422], {
    required: ['creditorId', 'status'],
    values: { status: ['REQUESTED', 'WAITING_FOR_SECOND_ACTIVATION_STEP', 'FAILED_TO_ENABLE'] },
  }),
  operation('listUsers', 'GET', '/users', [200, 401]),
  operation('requestCreditFile', 'POST', `${CREDIT_FILE}/request`, [202, 400, 401], {
    required: ['source'],
    values: { source: ['EQUIFAX', 'TRANSUNION'] },
  }),
  operation('readCreditFile', 'GET', CREDIT_FILE, [200, 400, 401, 404]),
];

const OF_DECISION = ['retailerId', 'status', 'creditorId', 'applicationId'];
const OF_OFFER = [...OF_DECISION, 'firstPaymentDate', 'frequency', 'interestRate'];

function decisionEvent(
  name: string,
  path: string,
  status: string,
  required = OF_DECISION,
): SpecifiedEvent {
  return { name, path, signatureHeader: 'X-SERVICE-SIGNATURE', status, required };
}

export const SPECIFIED_EVENTS: SpecifiedEvent[] = [
  {
    name: 'integrationEnabled',
    path: '/integration-enabled',
    signatureHeader: 'X-INTEGRATION-SIGNATURE',
    status: undefined,
    required: ['retailerId', 'retailerName'],
  },
  decisionEvent('applicationBooked', '/application-booked', 'BOOKED'),
  decisionEvent('applicationApproved', '/application-approved', 'APPROVED', OF_OFFER),
  decisionEvent(
    'applicationConditionallyApproved',
    '/application-conditionally-approved',
    'CONDITIONALLY_APPROVED',
    OF_OFFER,
  ),
  decisionEvent('documentsIncomplete', '/documents-incomplete', 'INCOMPLETE', OF_OFFER),
  decisionEvent('awaitingDecision', '/awaiting-decision', 'AWAITING_DECISION'),
  decisionEvent('pendingBanking', '/pending-banking', 'PENDING_BANK_CONNECTION'),
  decisionEvent('applicationDeclined', '/application-declined', 'DECLINED'),
  {
    name: 'applicationExported',
    path: '/application-exported',
    signatureHeader: 'X-SERVICE-SIGNATURE',
    status: undefined,
    required: ['retailerId', 'applicationId', 'creditorId', 'primaryApplicant', 'worksheet'],
  },
];
