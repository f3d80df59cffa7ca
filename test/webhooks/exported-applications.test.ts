import { makeApplication, makeSubmission, setDemoDestination } from '@creditlane/local/demo/demo';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { SubmissionIds } from '../platform/api-client.ts';
import { eventually } from '../platform/eventually.ts';
import { hexSignature } from '../platform/hex-signature.ts';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';
import type { ReceivedWebhook } from '../platform/webhook-inbox-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../platform/webhook-receiver.ts';
import { at, FIELDS, isEmpty } from './exported-fields.ts';

type Json = Record<string, unknown>;

// Valid numbers that no other test data has.
const [SIN, OTHER_SIN] = ['918273645', '927384650'].map(withCheckDigit) as [string, string];
const PERSON = { firstName: 'Zinnia', lastName: 'Quarrington', dateOfBirth: '1971-11-23' };

describe('an exported application reaches its one integration, whole', () => {
  let platform: TestPlatform;
  const logLines: string[] = [];
  /** The document's example of applicationExported. */
  let example: Json;
  beforeAll(async () => {
    platform = await startTestPlatform({
      // So many that no delivery is dead before a test has seen its failure.
      dispatcher: { RETRY_DELAYS: Array(20).fill('200ms').join(), DESTINATIONS_CACHE: '0ms' },
      onLogLine: (line) => void logLines.push(line),
    });
    const { body } = await platform.api.get('/openapi.json');
    const content = body.webhooks.applicationExported.post.requestBody.content['application/json'];
    example = content.example;
    await permit(['READ_SIN']);
  });
  afterAll(() => platform.close());
  beforeEach(() => platform.resetInbox());

  /** Gives the integration that exports to itself these permissions alone. */
  async function permit(permissions: string[]): Promise<void> {
    const { integrationId, keys } = platform.demo;
    const body = { name: 'Maple Lending Bridge', permissions };
    const path = `/platform/integrations/${integrationId}`;
    const { status } = await platform.api.call('PUT', path, { key: keys.platform, body });
    expect(status).toBe(204);
  }

  /** Creates and submits an application with everything that the example has. */
  async function submitExample(): Promise<SubmissionIds> {
    const { demo, api } = platform;
    const { primaryApplicant, coApplicant, relationship, worksheet } = asRequest(example);
    const application = { retailerId: demo.retailerId, type: 'APPROVAL', relationship };
    const created = await api.post('/applications', {
      ...application,
      primaryApplicant,
      coApplicant,
    });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const { applicationId } = created.body;
    const applicants = [created.body.primaryApplicant, created.body.coApplicant];
    const submission = {
      ...makeSubmission({ ...demo, applicantId: '' }),
      consents: applicants.map(({ applicantId }) => ({ applicantId, creditConsent: true })),
      worksheet,
    };
    const submitted = await api.post(`/applications/${applicationId}/submit`, submission);
    expect(submitted.status, JSON.stringify(submitted.body)).toBe(200);
    await platform.settle();
    await platform.inbox.clear();
    return { applicationId, creditorId: demo.creditorId };
  }

  /** A receiver that gets the webhooks of an integration until the test ends. */
  async function receiveFor(integrationId: string): Promise<WebhookReceiver> {
    const { baseUrl, keys, inboxUrl } = platform.demo;
    const access = { baseUrl, platformKey: keys.platform };
    const receiver = await startWebhookReceiver();
    onTestFinished(async () => {
      await setDemoDestination({ ...access, inboxUrl }, integrationId);
      await receiver.close();
    });
    await setDemoDestination({ ...access, inboxUrl: receiver.url }, integrationId);
    return receiver;
  }

  async function receiveExport(submission: SubmissionIds): Promise<ReceivedWebhook> {
    expect((await platform.exportApplication(submission)).status).toBe(202);
    const [webhook] = await platform.inbox.waitFor(1);
    return webhook as ReceivedWebhook;
  }

  describe('with every field that a caller gives', () => {
    let body: Json;
    let submission: SubmissionIds;
    beforeAll(async () => {
      submission = await submitExample();
      body = bodyOf(await receiveExport(submission));
    });

    test('the webhook is the document’s example, with the ids of the records', () => {
      expect(body).toEqual({ ...example, ...submission, retailerId: platform.demo.retailerId });
      const names = Object.keys(example);
      expect(Object.keys(body)).toEqual(names);
    });

    test('no field that integrations may read is missing, null or empty', () => {
      expect(FIELDS.filter((path) => isEmpty(at(body, path)))).toEqual([]);
    });
  });

  test('without READ_SIN an export to oneself has no social insurance number, nor has a replay of an earlier one', async () => {
    const submission = await submitExample();
    const whole = await receiveExport(submission);
    await platform.settle();
    await platform.inbox.clear();
    await permit([]);
    onTestFinished(() => permit(['READ_SIN']));
    await platform.exportApplication(submission);
    const path = `/webhook-deliveries/${whole.headers['webhook-id']}/replay`;
    expect((await platform.api.call('POST', path)).status).toBe(202);
    const { primaryApplicant, coApplicant, ...others } = bodyOf(whole) as Record<string, Json>;
    const masked = {
      ...others,
      primaryApplicant: { ...primaryApplicant, sin: null },
      coApplicant: { ...coApplicant, sin: null },
    };
    const webhooks = await platform.inbox.waitFor(2);
    expect(webhooks.map(bodyOf)).toEqual([masked, masked]);
  });

  test('a field that nobody gave is null where the interface permits null, and left out elsewhere', async () => {
    const created = await platform.api.post('/applications', {
      retailerId: platform.demo.retailerId,
      type: 'APPROVAL',
      primaryApplicant: { firstName: 'Ana', lastName: 'Roy', dateOfBirth: '1990-01-02' },
    });
    const { applicationId, primaryApplicant } = created.body;
    const terms = { firstPaymentDate: '2027-01-15', frequency: 'WEEKLY', interestRate: 5 };
    const submission = {
      ...makeSubmission({ ...platform.demo, applicantId: primaryApplicant.applicantId }),
      worksheet: { ...terms, vehicle: { odometerKm: 12.5 } },
    };
    await platform.api.post(`/applications/${applicationId}/submit`, submission);
    await platform.settle();
    await platform.inbox.clear();
    const { creditorId, retailerId } = platform.demo;
    expect(bodyOf(await receiveExport({ applicationId, creditorId }))).toEqual({
      retailerId,
      applicationId,
      creditorId,
      primaryApplicant: {
        firstName: 'Ana',
        lastName: 'Roy',
        sin: null,
        dateOfBirth: '1990-01-02',
        addressHistory: [],
        employmentHistory: [],
      },
      coApplicant: null,
      relationship: null,
      worksheet: {
        ...terms,
        vehicle: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          adjustedMsrp: null,
          odometer: { amount: 12.5, unit: 'KM' },
          colour: null,
          carfaxClaims: null,
          addOnOptions: [],
          deductOptions: [],
          addOns: null,
          deducts: null,
        },
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
      },
    });
  });

  test('both signatures of an export verify, and every attempt has the same bytes', async () => {
    const { webhookSecret } = platform.demo;
    const submission = await platform.submitNewApplication();
    await platform.settle();
    const receiver = await receiveFor(platform.demo.integrationId);
    receiver.answerWith(500);
    await platform.exportApplication(submission);
    const { received } = receiver;
    await expect.poll(() => received.length).toBeGreaterThan(1);
    receiver.answerWith(204);
    const failed = received.length;
    await expect.poll(() => received.length).toBeGreaterThan(failed);
    await platform.settle();
    for (const { path, headers, body } of received) {
      expect(path).toBe('/application-exported');
      expect(body).toBe(received[0]?.body);
      expect(headers['x-service-signature']).toBe(hexSignature(webhookSecret, body));
      expect(headers['x-integration-signature']).toBeUndefined();
      expect(() => new Webhook(webhookSecret).verify(body, headers)).not.toThrow();
    }
  });

  test('exports and decisions of one application arrive in the order in which they were made', async () => {
    const submission = await platform.submitNewApplication();
    await platform.inbox.waitFor(1);
    for (const decision of ['DOCUMENTS_INCOMPLETE', 'APPROVED']) {
      await platform.recordDecision(submission, { decision });
      await platform.settle();
      await platform.exportApplication(submission);
      await platform.settle();
    }
    const webhooks = await platform.inbox.waitFor(5);
    expect(webhooks.map(({ path }) => path)).toEqual([
      '/awaiting-decision',
      '/documents-incomplete',
      '/application-exported',
      '/application-approved',
      '/application-exported',
    ]);
    const sequences = webhooks.map(({ headers }) => headers['webhook-sequence']);
    expect(sequences).toEqual(['1', '2', '3', '4', '5']);
  });

  test('an export that is lost while its receiver fails ends as dead, with the reason', async () => {
    const submission = await platform.submitNewApplication();
    await platform.settle();
    await platform.inbox.setBehaviour('fail');
    const failedBefore = await platform.countFailedAttempts();
    await platform.exportApplication(submission);
    await platform.waitForFailedAttempt(failedBefore);
    await platform.runSql('applications', 'DELETE FROM exports');
    const deadDelivery = async () => {
      const rows = await platform.runSql(
        'webhook-dispatcher',
        `SELECT event, reason FROM deliveries JOIN messages USING (event_id)
         WHERE deliveries.application_id = '${submission.applicationId}' AND state = 'dead'`,
      );
      return rows[0];
    };
    expect(await eventually('dead delivery', deadDelivery)).toEqual({
      event: 'applicationExported',
      reason: 'export_deleted',
    });
  });

  test('an export is replayed only while the integration has a grant by which it would receive it', async () => {
    const { api, demo, inbox } = platform;
    const submission = await platform.submitNewApplication();
    await platform.settle();
    await inbox.clear();
    const webhook = await receiveExport(submission);
    await platform.settle();
    await inbox.clear();
    const replay = () =>
      api.call('POST', `/webhook-deliveries/${webhook.headers['webhook-id']}/replay`);
    const ofIntegration = `/platform/integrations/${demo.integrationId}`;
    const ofCreditor = `${ofIntegration}/creditors/${demo.creditorId}`;
    const ofRetailer = `${ofIntegration}/retailers/${demo.retailerId}`;
    const set = async (method: 'PUT' | 'DELETE', grant: string) => {
      const { status } = await api.call(method, grant, { key: demo.keys.platform });
      expect(status).toBe(204);
    };
    await set('DELETE', ofRetailer);
    await set('DELETE', ofCreditor);
    const { status, body } = await replay();
    expect([status, body.code]).toEqual([409, 'grant_missing']);
    await set('PUT', ofRetailer);
    expect((await replay()).status).toBe(202);
    const [again] = await inbox.waitFor(1);
    expect(again?.body).toBe(webhook.body);
    await set('PUT', ofCreditor);
  });

  test('one request with an Idempotency-Key, sent twice, sends one webhook', async () => {
    const submission = await platform.submitNewApplication();
    await platform.settle();
    await platform.inbox.clear();
    const headers = { 'Idempotency-Key': submission.applicationId };
    const first = await platform.exportApplication(submission, headers);
    const again = await platform.exportApplication(submission, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    await platform.settle();
    expect(await platform.inbox.list()).toHaveLength(1);
  });

  test('an integration of another tenant, which has no grant, is refused as one that does not exist, and receives nothing', async () => {
    const submission = await platform.submitNewApplication();
    await platform.settle();
    await platform.inbox.clear();
    const { integrationId: ofOtherTenant } = platform.demo.otherTenant;
    const { received } = await receiveFor(ofOtherTenant);
    for (const integrationId of [ofOtherTenant, submission.applicationId]) {
      const { status, body } = await platform.api.post(
        `/applications/${submission.applicationId}/export`,
        { integrationId, creditorId: submission.creditorId },
      );
      expect([status, body.code]).toEqual([404, 'integration_not_found']);
    }
    await platform.settle();
    expect([...received, ...(await platform.inbox.list())]).toEqual([]);
  });

  test('the content of an export is only in its webhook: not in databases, events, metrics, logs or answers', async () => {
    const { api, demo, inbox } = platform;
    const { primaryApplicant, ...application } = makeApplication(demo.retailerId);
    const created = await api.post('/applications', {
      ...application,
      primaryApplicant: { ...primaryApplicant, ...PERSON, sin: SIN },
    });
    await platform.submit(created.body);
    await platform.settle();
    await inbox.clear();
    const { applicationId } = created.body;
    const submission = { applicationId, creditorId: demo.creditorId };

    // A failed attempt, its repetition, and an export that can never be sent.
    await inbox.setBehaviour('fail');
    const failedBefore = await platform.countFailedAttempts();
    await platform.exportApplication(submission);
    await platform.waitForFailedAttempt(failedBefore);
    await inbox.setBehaviour('accept');
    const [webhook] = await inbox.waitFor(1);
    expect(webhook?.body).toContain(SIN);
    expect(webhook?.body).toContain(PERSON.lastName);
    await inbox.setBehaviour('fail');
    const failedAgain = await platform.countFailedAttempts();
    const lost = await platform.exportApplication(submission);
    await platform.waitForFailedAttempt(failedAgain);
    const flip = `UPDATE exports SET sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1)`;
    await platform.runSql('applications', `${flip} WHERE id = '${lost.body.exportId}'`);
    await platform.settle();
    const refused = { ...primaryApplicant, ...PERSON, sin: OTHER_SIN, dateOfBirth: '2971-11-23' };
    await api.post('/applications', { ...application, primaryApplicant: refused });

    const shown = [
      JSON.stringify((await api.get(`/applications/${applicationId}`)).body.primaryApplicant.sin),
      JSON.stringify(lost.body),
      await platform.metrics(),
      logLines.join('\n'),
      ...(await dumpDatabases(platform)),
    ].join('\n');

    // The search finds what is shown in the clear.
    for (const clear of [lost.body.exportId, applicationId, 'applicationExported']) {
      expect(shown).toContain(clear);
    }
    const dashed = SIN.replace(/(...)(...)(...)/, '$1-$2-$3');
    const secrets = [SIN, dashed, OTHER_SIN, PERSON.lastName, PERSON.dateOfBirth, 'Sherbrooke'];
    const found = secrets.filter((secret) => {
      const bytes = Buffer.from(secret);
      const encoded = [secret, bytes.toString('hex'), bytes.toString('base64').slice(0, -4)];
      return encoded.some((text) => shown.includes(text));
    });
    expect(found).toEqual([]);
  });
});

/** Every row of every table of every service as text; bytes in hex. */
async function dumpDatabases(platform: TestPlatform): Promise<string[]> {
  const texts: string[] = [];
  const services = Object.keys(platform.databaseUrls) as (keyof TestPlatform['databaseUrls'])[];
  for (const service of services) {
    const run = (text: string) => platform.runSql(service, text);
    const tables = await run(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    for (const { name } of tables) {
      const rows = await run(`SELECT t::text AS text FROM ${name} AS t`);
      texts.push(...rows.map(({ text }) => String(text)));
    }
  }
  return texts;
}

/** The number with its last digit replaced by Luhn's check digit. */
function withCheckDigit(digits: string): string {
  const sum = [...digits.slice(0, 8)].reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return digits.slice(0, 8) + String((10 - (sum % 10)) % 10);
}

/** The example as requests have it: amounts are numbers, and the frequency of an income has its own name. */
function asRequest(exported: Json): Json {
  const convert = (value: unknown, key = ''): unknown => {
    if (Array.isArray(value)) return value.map((item) => convert(item, key));
    if (typeof value !== 'object' || value === null) return value;
    if ('currency' in value && 'amount' in value) return value.amount;
    const entries = Object.entries(value).map(([name, member]) => {
      const isIncome = key === 'employmentHistory' && name === 'frequency';
      return [isIncome ? 'incomeFrequency' : name, convert(member, name)];
    });
    return Object.fromEntries(entries);
  };
  return convert(exported) as Json;
}

function bodyOf({ body }: ReceivedWebhook): Json {
  return JSON.parse(body);
}
