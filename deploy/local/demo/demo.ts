// The demo records: two tenants, made through the REST interface.
import { randomUUID } from 'node:crypto';
import { type ListedPersona, listPersonas } from '@creditlane/bureau-simulator/personas';
import { ApiCaller } from './api-caller.ts';

/** A tenant's records: its integration, retailer, creditor, and one application. */
export interface Tenant {
  integrationId: string;
  retailerId: string;
  creditorId: string;
  applicationId: string;
  applicantId: string;
}

/** The demo data as it is kept over restarts. */
export interface DemoRecords extends Tenant {
  /** The integration's API key. */
  key: string;
  retailerUserId: string;
  /** `whsec_` and base64 of the 32 bytes that sign this integration's webhooks. */
  webhookSecret: string;
  /** Secrets before a rotation, newest first: stored webhooks, and others during the overlap, have them. */
  earlierWebhookSecrets?: string[];
  /** The inbox's address to which the demo last sent these webhooks. */
  inboxUrl: string;
  otherTenant: Tenant & { key: string };
}

/** Callers and users that the records of an earlier version lack. */
export interface DemoCallers {
  users: DemoUsers;
  /** The key of a second integration, which has the first one's grants and no permission. */
  keyWithoutChat: string;
}

/** The ids of users, by what they are to the demo application's retailer. */
export interface DemoUsers {
  /** Active, and of the retailer. */
  active: string;
  /** Active, and of the retailer's group. */
  group: string;
  /** Of the retailer, and inactive. */
  inactive: string;
  /** Active, and of the other tenant's retailer. */
  foreign: string;
}

/** The ids of further applications of the demo's retailer. */
export interface DemoApplications {
  /** Never submitted. */
  draft: string;
  /** Submitted to the demo's creditor, then archived. */
  archived: string;
}

/** What records of a version without credit files lack. */
export interface DemoBureaus {
  /** The simulator's address, to which the demo last sent the retailers' inquiries. */
  simulatorUrl: string;
  /** Named like a persona of the simulator whose file has every section. */
  creditFile: DemoApplicant;
}

/** An applicant of the demo's retailer who has consented to inquiries at bureaus. */
export interface DemoApplicant {
  applicationId: string;
  applicantId: string;
}

/** demo.json: what a person or a program needs to try the running platform. */
export interface Demo extends Tenant {
  /** Ends in /v1. */
  baseUrl: string;
  opsUrl: string;
  inboxUrl: string;
  keys: { integration: string; platform: string; withoutChat: string };
  retailerUserId: string;
  webhookSecret: string;
  otherTenant: Tenant & { key: string };
  users: DemoUsers;
  applications: DemoApplications;
  /** `GET simulatorUrl/inquiries` lists the hard inquiries that the bureau simulator has received. */
  simulatorUrl: string;
  creditFile: DemoApplicant;
  /** Names of applicants whose inquiries the simulator answers in a special way. */
  personas: ListedPersona[];
  /** The processes by name, where each service is one. */
  services?: Record<string, ServiceAddress>;
}

/** The addresses of a service's process. */
export interface ServiceAddress {
  pid: number;
  /** Health and metrics. */
  opsUrl: string;
  /** Connect over HTTP/1.1; the REST interface at the gateway. */
  rpcUrl: string;
  /** host:port for calls of other services. */
  grpcAddress?: string;
}

export interface ApiAccess {
  baseUrl: string;
  platformKey: string;
  inboxUrl: string;
}

/** The names of the two tenants' records. */
export const FIRST_TENANT = {
  integration: 'Maple Lending Bridge',
  retailer: 'Harbour Motors',
  creditor: 'First Prairie Finance',
};
export const SECOND_TENANT = {
  integration: 'Northern Deals',
  retailer: 'Aurora Auto',
  creditor: 'Lakehead Credit',
};

/** All demo data. */
export type CompleteRecords = DemoRecords &
  DemoCallers & { applications: DemoApplications } & DemoBureaus;

/** The contents of demo.json. */
export function demoOf(
  { key, keyWithoutChat, ...records }: CompleteRecords,
  platform: ApiAccess & { opsUrl: string },
): Demo {
  const { baseUrl, opsUrl, platformKey, inboxUrl } = platform;
  const keys = { integration: key, platform: platformKey, withoutChat: keyWithoutChat };
  return { baseUrl, opsUrl, keys, ...records, inboxUrl, personas: listPersonas() };
}

/** Who creates an application and submits it, and to whom. */
export interface Submitter {
  key: string;
  retailerId: string;
  retailerUserId: string;
  creditorId: string;
}

/**
 * Makes two tenants through the REST interface, as the platform team and the integrations would: each
 * with an application that is submitted to its creditor, and the first with webhooks to the inbox.
 *
 * @param beforeWebhooks makes more records of the first tenant, whose events shall cause no webhooks
 */
export async function seedDemoData(
  access: ApiAccess,
  beforeWebhooks: (tenant: Submitter) => Promise<void> = async () => {},
): Promise<DemoRecords> {
  const first = await makeTenant(access, FIRST_TENANT);
  await beforeWebhooks(first);
  const webhookSecret = await setDemoDestination(access, first.integrationId);
  await submitOne(access, first);
  const other = await makeTenant(access, SECOND_TENANT);
  await submitOne(access, other);

  const { retailerUserId: _, ...otherTenant } = other;
  return { ...first, webhookSecret, inboxUrl: access.inboxUrl, otherTenant };
}

const MAX_EARLIER_SECRETS = 9;

/** The secrets that sign webhooks of these records, or did. */
export function knownSecrets({ webhookSecret, earlierWebhookSecrets = [] }: DemoRecords): string[] {
  return [webhookSecret, ...earlierWebhookSecrets];
}

/** The records with another secret, beside those before. */
export function withNewSecret(records: DemoRecords, secret: string): DemoRecords {
  const earlier = knownSecrets(records).filter((known) => known !== secret);
  return {
    ...records,
    webhookSecret: secret,
    earlierWebhookSecrets: earlier.slice(0, MAX_EARLIER_SECRETS),
  };
}

/** Sends the integration's webhooks to the inbox. Returns the secret of a new destination, else "". */
export async function setDemoDestination(
  access: ApiAccess,
  integrationId: string,
): Promise<string> {
  const platform = new ApiCaller(access.baseUrl, access.platformKey);
  const destination = await platform.put(`/platform/integrations/${integrationId}/destination`, {
    url: access.inboxUrl,
  });
  return destination.secret ?? '';
}

/** What the integrations of the tenants may do. */
export const PERMISSIONS = ['ENQUEUE_RETAILER_CHAT', 'FORCE_PULL'];

type NewTenant = Tenant & { key: string; retailerUserId: string };

async function makeTenant(
  access: ApiAccess,
  { integration, retailer, creditor }: typeof FIRST_TENANT,
): Promise<NewTenant> {
  const platform = new ApiCaller(access.baseUrl, access.platformKey);
  const [retailerId, creditorId, retailerUserId] = [randomUUID(), randomUUID(), randomUUID()];
  await platform.put(`/platform/retailers/${retailerId}`, { name: retailer });
  await platform.put(`/platform/creditors/${creditorId}`, { name: creditor });
  await platform.put(`/platform/users/${retailerUserId}`, {
    firstName: 'Noor',
    lastName: 'Singh',
    email: 'noor.singh@example.com',
    retailerIds: [retailerId],
  });
  const named = { name: integration, permissions: PERMISSIONS };
  const { integrationId, key } = await makeIntegration(platform, named, { retailerId, creditorId });
  return {
    integrationId,
    retailerId,
    creditorId,
    retailerUserId,
    key,
    applicationId: '',
    applicantId: '',
  };
}

/** Registers an integration, grants it the retailer and the creditor, and issues a key. */
export async function makeIntegration(
  platform: ApiCaller,
  integration: { name: string; permissions: string[] },
  { retailerId, creditorId }: { retailerId: string; creditorId: string },
): Promise<{ integrationId: string; key: string }> {
  const { integrationId } = await platform.post('/platform/integrations', integration);
  const path = `/platform/integrations/${integrationId}`;
  await platform.put(`${path}/retailers/${retailerId}`);
  await platform.put(`${path}/creditors/${creditorId}`);
  const { key } = await platform.post(`${path}/keys`, { live: false });
  return { integrationId, key };
}

/** Creates the tenant's application and submits it, with the tenant's own key. */
async function submitOne(access: ApiAccess, tenant: NewTenant): Promise<void> {
  const integration = new ApiCaller(access.baseUrl, tenant.key);
  const application = await integration.post('/applications', makeApplication(tenant.retailerId));
  tenant.applicationId = application.applicationId;
  tenant.applicantId = application.primaryApplicant.applicantId;
  await integration.post(`/applications/${tenant.applicationId}/submit`, makeSubmission(tenant));
}

/** The body that creates an application. The person does not exist; the SIN is never issued. */
export function makeApplication(retailerId: string) {
  return {
    retailerId,
    type: 'APPROVAL',
    referenceNumber: `DEMO-${randomUUID()}`,
    primaryApplicant: {
      firstName: 'Maya',
      lastName: 'Tremblay',
      sin: '046454286',
      dateOfBirth: '1988-07-14',
      phoneNumber: '+1 514 555 0143',
      email: 'maya.tremblay@example.com',
      addressHistory: [
        {
          streetNo: '1280',
          streetName: 'Sherbrooke',
          streetType: 'Street',
          direction: 'W',
          city: 'Montreal',
          province: 'QC',
          postalCode: 'H3G 1H9',
          residenceType: 'RENT',
          monthlyRentOrMortgage: 1450,
          yearsAtAddress: 3,
        },
      ],
      employmentHistory: [
        {
          employerName: 'Northern Lights Bakery',
          occupation: 'Baker',
          status: 'FULL_TIME',
          type: 'TRADES',
          grossIncome: 2100,
          incomeFrequency: 'BI_WEEKLY',
          yearsWorked: 5,
        },
      ],
    },
  };
}

/** The body that submits an application to one creditor. */
export function makeSubmission(ids: {
  retailerUserId: string;
  creditorId: string;
  applicantId: string;
}) {
  return {
    submittedByUserId: ids.retailerUserId,
    creditorIds: [ids.creditorId],
    consents: [{ applicantId: ids.applicantId, creditConsent: true }],
    worksheet: {
      firstPaymentDate: '2027-01-15',
      frequency: 'MONTHLY',
      interestRate: 7.49,
      term: 60,
      salePrice: 28_995,
      cashDown: 2_000,
      totalFinancedAmount: 29_300,
      vehicle: {
        vin: '1HGBH41JXMN109186',
        year: 2024,
        make: 'Honda',
        model: 'Civic',
        status: 'USED',
      },
    },
  };
}
