/** Which services each operation needs: without any one of them, none of its requests can be answered. */
import type { OperationId } from '../operations/handlers.ts';

/** A service that the gateway calls. */
export type Peer =
  | 'applications'
  | 'conversations'
  | 'credit-file'
  | 'decisions'
  | 'integrations'
  | 'webhook-dispatcher';

/** Knows each caller's key, so that only the holders of signed links do without it. */
const INTEGRATIONS = ['integrations'] as const;
/** The applications service knows the retailer of an application, on which a caller's scope depends. */
const APPLICATIONS = [...INTEGRATIONS, 'applications'] as const;
const CONVERSATIONS = [...APPLICATIONS, 'conversations'] as const;
const CREDIT_FILES = [...INTEGRATIONS, 'credit-file'] as const;
const CREDIT_FILES_OF_APPLICATION = [...APPLICATIONS, 'credit-file'] as const;
const DECISIONS = [...INTEGRATIONS, 'decisions'] as const;
const DECISIONS_OF_APPLICATION = [...APPLICATIONS, 'decisions'] as const;
const DELIVERIES = [...INTEGRATIONS, 'webhook-dispatcher'] as const;

export const NEEDED_SERVICES: Readonly<Record<OperationId, readonly Peer[]>> = {
  listApplications: APPLICATIONS,
  createApplication: APPLICATIONS,
  getApplication: APPLICATIONS,
  submitApplication: APPLICATIONS,
  archiveApplication: APPLICATIONS,
  exportApplication: APPLICATIONS,
  recordConsent: APPLICATIONS,
  listConsents: APPLICATIONS,
  revokeConsent: APPLICATIONS,
  listUsers: APPLICATIONS,
  listRetailers: APPLICATIONS,
  listCreditors: APPLICATIONS,
  registerRetailer: APPLICATIONS,
  registerRetailerGroup: APPLICATIONS,
  registerUser: APPLICATIONS,
  registerCreditor: APPLICATIONS,

  // The conversations service asks the applications service about each comment.
  commentAsCreditor: CONVERSATIONS,
  commentAsRetailerUser: CONVERSATIONS,
  getConversation: CONVERSATIONS,

  requestCreditFile: CREDIT_FILES_OF_APPLICATION,
  readCreditFile: CREDIT_FILES_OF_APPLICATION,
  listPulls: CREDIT_FILES_OF_APPLICATION,
  // The credit-file service answers once the applications service has erased its part.
  eraseApplicant: CREDIT_FILES_OF_APPLICATION,
  readCreditFileDocument: ['credit-file'],
  setEquifaxCredentials: CREDIT_FILES,
  setTransUnionCredentials: CREDIT_FILES,
  getBureauCredentials: CREDIT_FILES,
  removeBureauCredentials: CREDIT_FILES,

  getDecision: DECISIONS_OF_APPLICATION,
  listDecisions: DECISIONS_OF_APPLICATION,
  getIncomeStatus: DECISIONS_OF_APPLICATION,
  recordDecision: DECISIONS,
  setIncomeStatus: DECISIONS,

  listDeliveries: DELIVERIES,
  getDelivery: DELIVERIES,
  replayDelivery: DELIVERIES,
  replayDeliveries: DELIVERIES,
  getReplay: DELIVERIES,
  cancelReplay: DELIVERIES,
  sendTestEvent: DELIVERIES,

  enableIntegration: INTEGRATIONS,
  disableIntegration: INTEGRATIONS,
  setIntegrationStatus: INTEGRATIONS,
  getIntegrationEnablement: INTEGRATIONS,
  // The integrations service asks the applications service for the retailer's name.
  enableForRetailer: APPLICATIONS,
  registerIntegration: INTEGRATIONS,
  issueKey: INTEGRATIONS,
  revokeKey: INTEGRATIONS,
  grantRetailer: INTEGRATIONS,
  withdrawRetailer: INTEGRATIONS,
  grantCreditor: INTEGRATIONS,
  withdrawCreditor: INTEGRATIONS,
  setDestination: INTEGRATIONS,
  removeDestination: INTEGRATIONS,
  rotateSecret: INTEGRATIONS,
};
