// The records whose ids the access matrix puts into requests: two tenants', and new ones for operations that use them up.
import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '@creditlane/gateway/document/openapi-document';
import { makeApplication } from '@creditlane/local/demo/demo';
import type { Answer } from '../../platform/api-client.ts';
import type { TestPlatform } from '../../platform/test-platform.ts';
import type { MatrixCaller } from './expectation.ts';
import type { MatrixOperation } from './matrix-operation.ts';
import type { Ids } from './request.ts';

/** What an operation needs beside the standing records. */
export interface Preparation {
  /** Makes records that one success uses up. The ids take the place of the standing records'. */
  makeIds?(records: Records, caller: MatrixCaller): Promise<Ids>;
  /** The example body with what must be different in each request. */
  vary?(example: JsonObject): JsonValue;
  /** Whether the operation changes what its caller may do: then its callers are its own. */
  changesCaller?: true;
  /** The code by which an admitted caller, other than the owner, may be refused by the record's state. */
  stateCode?: string;
  /** Ids in the body that may be of any tenant, by the names of their places. */
  anyTenant?: readonly string[];
}

const OF_NEW_APPLICATION: Preparation = { makeIds: (records) => records.makeApplication() };

const OF_PULLED_FILE: Preparation = { makeIds: (records) => records.pullCreditFile() };

/** By operationId. An operation that works with the example and the standing records is not listed. */
export const PREPARATIONS: Readonly<Record<string, Preparation>> = {
  // A reference number is unique for each retailer.
  createApplication: { vary: (example) => ({ ...example, referenceNumber: randomUUID() }) },
  // A retailer submits to any creditor of the platform, without a grant of the integration on it.
  submitApplication: { ...OF_NEW_APPLICATION, anyTenant: ['creditorId'] },
  archiveApplication: OF_NEW_APPLICATION,
  eraseApplicant: OF_NEW_APPLICATION,
  enableIntegration: {
    changesCaller: true,
    stateCode: 'integration_not_requested',
    makeIds: (records, caller) => records.requestEnabling(caller),
  },
  // A delivery can be replayed once it is delivered again, and deliveries once no other replay is running.
  replayDelivery: { makeIds: (records) => records.settle() },
  replayDeliveries: { makeIds: (records) => records.settle() },
  // Once the file is there, every further request leads to its pull, and all answers have the same fields. A request's own id
  // is no record's.
  requestCreditFile: { ...OF_PULLED_FILE, anyTenant: ['requestId'] },
  readCreditFile: OF_PULLED_FILE,
  disableIntegration: { changesCaller: true },
  setIntegrationStatus: { changesCaller: true },
};

/** The platform's directory, and applicants to erase: these records are named freely by a platform key. */
export const DIRECTORY_IDS: ReadonlySet<string> = new Set([
  'applicantId',
  'integrationId',
  'retailerId',
  'retailerGroupId',
  'creditorId',
  'userId',
]);

/** Makes records with the platform key that has every permission. Throws an Error unless it succeeds. */
export class Administration {
  readonly #platform: TestPlatform;

  constructor(platform: TestPlatform) {
    this.#platform = platform;
  }

  async call(method: string, path: string, body?: object): Promise<Answer['body']> {
    const { api, demo } = this.#platform;
    const options = { key: demo.keys.platform, body };
    return required(await api.call(method, `/platform${path}`, options));
  }

  async makeIntegration(permissions: readonly string[]) {
    const named = { name: 'Matrix', permissions };
    const { integrationId } = await this.call('POST', '/integrations', named);
    const { key, keyId } = await this.call('POST', `/integrations/${integrationId}/keys`, {});
    return { integrationId, key, keyId } as { integrationId: string; key: string; keyId: string };
  }
}

const EQUIFAX = {
  customerCode: 'A123',
  customerNumber: '999ZB12345',
  securityCode: '42',
  transport: 'FORM',
  baseUrl: 'https://equifax.example.com',
};

export class Records {
  /** The ids of the two tenants' standing records. */
  readonly own: Ids;
  readonly other: Ids;
  readonly #platform: TestPlatform;
  readonly #administration: Administration;

  private constructor(platform: TestPlatform, own: Ids, other: Ids) {
    this.#platform = platform;
    this.#administration = new Administration(platform);
    this.own = own;
    this.other = other;
  }

  /**
   * Finds or makes a record of each name. A name that is not known here is looked for in the lists of
   * `operations`: `deliveryId` is the first one that any list shows. A name that only bodies have, and no
   * list, gets a new id: where the id has to exist, the operation then fails for the owner.
   */
  static async open(platform: TestPlatform, operations: readonly MatrixOperation[]) {
    const { demo } = platform;
    const administration = new Administration(platform);
    const { otherTenant } = demo;
    // So that both tenants have deliveries, and something to read of each kind.
    const destination = `/integrations/${otherTenant.integrationId}/destination`;
    await administration.call('PUT', destination, { url: demo.inboxUrl });
    for (const { key, ...submission } of [{ ...demo, key: demo.keys.integration }, otherTenant]) {
      const { applicationId, creditorId } = submission;
      const path = `/applications/${applicationId}/creditors/${creditorId}`;
      const decision = { applicationId, decision: 'DECLINED' };
      required(await platform.api.post(`${path}/decision`, decision, { key }));
      const comment = { userName: 'Ines Okafor', comment: 'Please send a pay stub.' };
      required(await platform.api.post(`${path}/comment`, comment, { key }));
    }
    await platform.settle();
    // Names of bodies that name no record of the platform, such as the id of an address.
    const namesInBodies = operations.flatMap(({ places }) =>
      places.filter((it) => it.in === 'body').map(({ name }) => name),
    );
    const makeGroup = async () => {
      const retailerGroupId = randomUUID();
      const path = `/retailer-groups/${retailerGroupId}`;
      await administration.call('PUT', path, { name: 'Matrix' });
      return retailerGroupId;
    };
    const makeReplay = async (key: string) =>
      required(await platform.api.post('/webhook-replays', {}, { key })).replayId;
    const makeConsent = async ({ key, ...ids }: typeof otherTenant, capturedBy: string) => {
      const path = `/applications/${ids.applicationId}/applicants/${ids.applicantId}/consents`;
      const consent = { purpose: 'CREDIT_APPLICATION', textVersion: 'v1', capturedBy };
      return required(await platform.api.post(path, consent, { key })).consentId;
    };
    const idsOf = async (tenant: typeof otherTenant, userId: string): Promise<Ids> => ({
      ...Object.fromEntries(namesInBodies.map((name) => [name, randomUUID()])),
      ...(await findInLists(platform, operations, tenant.key)),
      applicationId: tenant.applicationId,
      applicantId: tenant.applicantId,
      creditorId: tenant.creditorId,
      retailerId: tenant.retailerId,
      retailerGroupId: await makeGroup(),
      integrationId: tenant.integrationId,
      userId,
      submittedByUserId: userId,
      capturedBy: userId,
      revokedBy: userId,
      consentId: await makeConsent(tenant, userId),
      replayId: await makeReplay(tenant.key),
      keyId: (await administration.call('POST', `/integrations/${tenant.integrationId}/keys`, {}))
        .keyId,
    });
    const own = await idsOf({ ...demo, key: demo.keys.integration }, demo.users.active);
    return new Records(platform, own, await idsOf(otherTenant, demo.users.foreign));
  }

  /** Waits until every delivery is delivered or dead. */
  async settle(): Promise<Ids> {
    await this.#platform.settle();
    return {};
  }

  /** Has the credit file of the own applicant pulled, unless it was pulled before. */
  async pullCreditFile(): Promise<Ids> {
    const { api } = this.#platform;
    const path = `/applications/${this.own.applicationId}/credit-file/${this.own.applicantId}`;
    required(await api.post(`${path}/request`, { source: 'EQUIFAX' }));
    required(await api.get(path, { headers: { Prefer: 'wait=30' } }));
    return {};
  }

  async makeApplication(): Promise<Ids> {
    const { api, demo } = this.#platform;
    const body = required(await api.post('/applications', makeApplication(demo.retailerId)));
    const { applicationId, primaryApplicant } = body;
    const { applicantId } = primaryApplicant;
    return { applicationId, applicantId, retailerId: demo.retailerId };
  }

  /** A caller that is disabled for the creditor stays disabled. */
  async requestEnabling({ key, grants }: MatrixCaller): Promise<Ids> {
    const { creditorId } = this.own;
    const body = { creditorId, status: 'REQUESTED' };
    if (grants.creditor && !grants.disabled) {
      required(await this.#platform.api.post('/creditors/integration-status', body, { key }));
    }
    return {};
  }

  /** New records of the directory, for an operation with a platform key. */
  async makeDirectory(): Promise<Ids> {
    const administration = this.#administration;
    const [retailerId, creditorId, userId, retailerGroupId] = Array.from({ length: 4 }, () =>
      randomUUID(),
    );
    const { integrationId, keyId } = await administration.makeIntegration([]);
    const url = this.#platform.demo.inboxUrl;
    await Promise.all([
      administration.call('PUT', `/retailers/${retailerId}`, { name: 'Matrix' }),
      administration.call('PUT', `/creditors/${creditorId}`, { name: 'Matrix' }),
      administration.call('PUT', `/retailer-groups/${retailerGroupId}`, { name: 'Matrix' }),
      administration.call('PUT', `/integrations/${integrationId}/destination`, { url }),
      administration.call('PUT', `/retailers/${retailerId}/bureau-credentials/EQUIFAX`, EQUIFAX),
    ]);
    return { integrationId, keyId, retailerId, creditorId, userId, retailerGroupId } as Ids;
  }
}

/** The ids of the first records that the lists without a path parameter show to a key. */
async function findInLists(
  { api }: TestPlatform,
  operations: readonly MatrixOperation[],
  key: string,
): Promise<Ids> {
  const lists = operations.filter(
    ({ method, path, access }) =>
      method === 'GET' && !path.includes('{') && access.caller === 'integration',
  );
  const answers = await Promise.all(lists.map(({ path }) => api.get(path, { key })));
  const records = answers.map(({ body }) => body?.data?.[0] ?? {});
  return Object.fromEntries(
    records
      .flatMap((record) => Object.entries<string>(record))
      .filter(([name]) => /Id$/.test(name)),
  );
}

function required({ status, body }: Answer): Answer['body'] {
  if (status >= 300) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body;
}
