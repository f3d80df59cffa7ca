// Generated from services/gateway/openapi by npm run generate. Do not edit.

/** The query parameters with a default, by operationId. */
export interface QueryDefaults {
  listApplications: 'limit';
  listConsents: 'limit';
  getConversation: 'limit';
  listPulls: 'limit';
  listDecisions: 'limit';
  listDeliveries: 'limit';
  listUsers: 'limit';
  listRetailers: 'limit';
  listCreditors: 'limit';
  listPlatformActs: 'limit';
}
