// A whole platform for one test file: real HTTP, real PostgreSQL and a real webhook receiver.
import { randomBytes } from 'node:crypto';
import { startBureauSimulator } from '@creditlane/bureau-simulator/bureau-simulator';
import { type Client, type ClientOptions, createClient } from '@creditlane/client';
import { generateApiKey } from '@creditlane/crypto/api-key';
import {
  type Demo,
  type DemoRecords,
  demoOf,
  knownSecrets,
  makeApplication,
  makeSubmission,
  seedDemoData,
  withNewSecret,
} from '@creditlane/local/demo/demo';
import { makeDemoApplications } from '@creditlane/local/demo/demo-applications';
import { makeDemoApplicant, setDemoCredentials } from '@creditlane/local/demo/demo-bureaus';
import { makeDemoCallers } from '@creditlane/local/demo/demo-callers';
import { HOST } from '@creditlane/local/host';
import type { PlatformSettings } from '@creditlane/local/settings';
import { type DatabaseUrls, dropDatabases, prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets, platformKeyDigest } from '@creditlane/platform/secrets';
import { SERVICES } from '@creditlane/platform/services';
import { Closers } from '@creditlane/runtime/closers';
import { Health } from '@creditlane/runtime/health';
import type { Process } from '@creditlane/runtime/run';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { startWebhookInbox } from '@creditlane/webhook-inbox/webhook-inbox';
import { inject } from 'vitest';
import {
  type Answer,
  ApiClient,
  decisionPath,
  fetchDescribedAnswer,
  type SubmissionIds,
} from './api-client.ts';
import { eventually } from './eventually.ts';
import { MetricSamples } from './metric-samples.ts';
import { startInRunMode } from './run-mode.ts';
import { runSql } from './run-sql.ts';
import { WebhookInboxClient } from './webhook-inbox-client.ts';

export interface TestPlatformOptions {
  /** Settings of the webhook dispatcher, such as RETRY_DELAYS. */
  dispatcher?: Record<string, string>;
  /** Settings of every service. */
  everywhere?: Record<string, string>;
  /** Further platform keys, each with its permissions. */
  platformKeys?: ReadonlyMap<string, readonly string[]>;
  /** Gets every line of the log in the run mode one-process; else errors go to the standard output. */
  onLogLine?: (line: string) => void;
}

/**
 * Starts a platform on new databases, with the two demo tenants and an empty webhook inbox. The run
 * mode is that of `startInRunMode`.
 */
export async function startTestPlatform(options: TestPlatformOptions = {}): Promise<TestPlatform> {
  const { dispatcher, everywhere, platformKeys = new Map(), onLogLine } = options;
  const testProcess = {
    log: createLog(
      'test platform',
      onLogLine ? { level: 'trace', destination: { write: onLogLine } } : { level: 'error' },
    ),
    metrics: new Metrics(),
    // Dropping databases takes seconds on a machine that runs other tests at the same time.
    closers: new Closers({ deadlineMs: 30_000 }),
    health: new Health(),
  };
  try {
    const settings = Object.fromEntries(SERVICES.map(({ name }) => [name, { ...everywhere }]));
    const dispatcherSettings = { ...everywhere, ...dispatcher };
    return await startWithDemoData(
      { ...settings, 'webhook-dispatcher': dispatcherSettings },
      platformKeys,
      testProcess,
    );
  } catch (error) {
    await testProcess.closers.close();
    throw error;
  }
}

async function startWithDemoData(
  settings: PlatformSettings['settings'] & object,
  platformKeys: ReadonlyMap<string, readonly string[]>,
  testProcess: Process,
): Promise<TestPlatform> {
  const { closers } = testProcess;
  const secrets = makeSecrets();
  const further = [...platformKeys].map(([platformKey, permissions]) =>
    [platformKeyDigest({ platformKey }), ...permissions].join(':'),
  );
  const digests = [platformKeyDigest(secrets), ...further].join(',');
  settings.integrations = { ...settings.integrations, PLATFORM_KEY_DIGESTS: digests };
  const suffix = `_${randomBytes(4).toString('hex')}`;
  const adminUrl = inject('postgresUrl');
  const databaseUrls = await prepareDatabases(adminUrl, secrets, suffix);
  closers.add('databases', () => dropDatabases(adminUrl, suffix));
  const close = () => closers.close();
  const running = await startInRunMode({ secrets, databaseUrls, settings }, testProcess);
  // Without Kafka, test/setup/processes.skip.ts skips every test, so that nothing uses this object.
  if (running === undefined) return new TestPlatform({} as Demo, { close } as TestPlatform);

  let records: DemoRecords | undefined;
  const inbox = await startWebhookInbox({
    host: HOST,
    port: 0,
    secrets: () => (records === undefined ? [] : knownSecrets(records)),
    async addSecret(secret) {
      records &&= withNewSecret(records, secret);
    },
    log: testProcess.log,
  });
  closers.add('webhook inbox', inbox.close);
  const simulator = await startBureauSimulator({ host: HOST, port: 0, log: testProcess.log });
  closers.add('bureau simulator', simulator.close);
  const { baseUrl, opsUrl, settled: settle, metrics } = running;
  const { platformKey } = secrets;
  const access = { baseUrl, platformKey, inboxUrl: inbox.url };
  const seeded = await seedDemoData(access);
  records = seeded;
  const withCallers = { ...seeded, ...(await makeDemoCallers(access, seeded)) };
  const applications = await makeDemoApplications(access, seeded);
  await setDemoCredentials(access, simulator, [seeded.retailerId, seeded.otherTenant.retailerId]);
  const creditFile = await makeDemoApplicant(access, seeded);
  await settle();
  const { url: simulatorUrl } = simulator;
  const complete = { ...withCallers, applications, creditFile, simulatorUrl };
  const demo = demoOf(complete, { ...access, opsUrl });
  const platform = new TestPlatform(demo, { settle, metrics, close, databaseUrls });
  await platform.inbox.clear();
  return platform;
}

interface CreatedApplication {
  applicationId: string;
  primaryApplicant: { applicantId: string };
}

/** A running platform, and the actions that tests of several promises need. */
export class TestPlatform {
  readonly demo: Demo;
  readonly api: ApiClient;
  readonly inbox: WebhookInboxClient;
  /** Resolves when every event has been handled and every webhook is delivered or waits for a retry. */
  readonly settle: () => Promise<void>;
  /** The /metrics pages of all processes. */
  readonly metrics: () => Promise<string>;
  readonly close: () => Promise<void>;
  readonly databaseUrls: DatabaseUrls;

  constructor(
    demo: Demo,
    running: Pick<TestPlatform, 'settle' | 'metrics' | 'close' | 'databaseUrls'>,
  ) {
    this.demo = demo;
    this.api = new ApiClient(demo);
    this.inbox = new WebhookInboxClient(demo.inboxUrl);
    this.settle = running.settle;
    this.metrics = running.metrics;
    this.close = running.close;
    this.databaseUrls = running.databaseUrls;
  }

  /**
   * The published client, by default with the key of the demo integration. Through another `baseUrl`, such as
   * that of a proxy, its answers are not compared with the OpenAPI document.
   */
  connect(options: Partial<ClientOptions> = {}): Client {
    const { baseUrl, keys } = this.demo;
    const defaults = { baseUrl, apiKey: keys.integration };
    const compared = options.baseUrl === undefined && { fetch: fetchDescribedAnswer };
    return createClient({ ...defaults, ...compared, ...options });
  }

  /** Makes the webhook inbox accept webhooks, and clears it once it has received those under way. */
  async resetInbox(): Promise<void> {
    await this.inbox.setBehaviour('accept');
    await this.settle();
    await this.inbox.clear();
  }

  /** Runs SQL in the database of a service: what makes time pass for a test, and what no operation shows. */
  runSql(service: keyof DatabaseUrls, text: string): Promise<Record<string, unknown>[]> {
    return runSql(this.databaseUrls[service], text);
  }

  /** Creates an application of the first tenant's retailer and submits it to the tenant's creditor. */
  async submitNewApplication(): Promise<SubmissionIds> {
    const created = await this.api.post('/applications', makeApplication(this.demo.retailerId));
    const submitted = await this.submit(created.body);
    if (submitted.status !== 200) {
      throw new Error(`the submission was refused: ${JSON.stringify(submitted.body)}`);
    }
    return { applicationId: created.body.applicationId, creditorId: this.demo.creditorId };
  }

  /** Submits an application to the first tenant's creditor. */
  submit(application: CreatedApplication): Promise<Answer> {
    const { applicantId } = application.primaryApplicant;
    const body = makeSubmission({ ...this.demo, applicantId });
    return this.api.post(`/applications/${application.applicationId}/submit`, body);
  }

  /** Exports an application, with its submission, to the first tenant's own integration. */
  exportApplication(
    { applicationId, creditorId }: SubmissionIds,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const body = { integrationId: this.demo.integrationId, creditorId };
    return this.api.post(`/applications/${applicationId}/export`, body, { headers });
  }

  recordDecision(
    submission: SubmissionIds,
    decision: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const body = { applicationId: submission.applicationId, ...decision };
    return this.api.post(decisionPath(submission), body, { headers });
  }

  /** Issues another API key to the demo integration; `revoke` deletes the key. */
  async issueKey(): Promise<{ key: string; revoke(): Promise<void> }> {
    const asPlatform = { key: this.demo.keys.platform };
    const path = `/platform/integrations/${this.demo.integrationId}/keys`;
    const { body } = await this.api.post(path, {}, asPlatform);
    return {
      key: body.key,
      revoke: async () => void (await this.api.call('DELETE', `${path}/${body.keyId}`, asPlatform)),
    };
  }

  /** A key with a correct checksum that was never issued. */
  makeUnissuedKey(): string {
    return generateApiKey(false);
  }

  /** How many webhook attempts have failed since the platform started. */
  async countFailedAttempts(): Promise<number> {
    const samples = new MetricSamples(await this.metrics());
    const count = (labels = {}) => samples.sum('webhook_attempts_total', labels);
    return count() - count({ outcome: 'delivered' });
  }

  /** Resolves once more than `before` webhook attempts have failed. */
  async waitForFailedAttempt(before: number): Promise<void> {
    await eventually('failed attempt', async () =>
      (await this.countFailedAttempts()) > before ? true : undefined,
    );
  }
}
