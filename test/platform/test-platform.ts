// The promises that users see, each proved on a whole running Creditlane: real HTTP, real PostgreSQL, a real receiver.
import { randomBytes } from 'node:crypto';
import { generateApiKey } from '@creditlane/crypto/api-key';
import {
  type Demo,
  type DemoRecords,
  makeApplication,
  makeSubmission,
  seedDemoData,
} from '@creditlane/local/demo';
import { HOST } from '@creditlane/local/host';
import type { PlatformSettings } from '@creditlane/local/settings';
import { dropDatabases, prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import { SERVICES } from '@creditlane/platform/services';
import { Closers } from '@creditlane/runtime/closers';
import { Health } from '@creditlane/runtime/health';
import type { Process } from '@creditlane/runtime/run';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { startInbox } from '@creditlane/webhook-inbox/inbox';
import { inject } from 'vitest';
import { type Answer, Api, decisionPath } from './api-client.ts';
import { eventually } from './eventually.ts';
import { startShape } from './run-mode.ts';
import { Inbox } from './webhook-inbox.ts';

export interface SubmissionIds {
  applicationId: string;
  creditorId: string;
}

interface NewApplication {
  applicationId: string;
  primaryApplicant: { applicantId: string };
}

export interface TestPlatformOptions {
  /** Settings of the webhook dispatcher, such as RETRY_DELAYS. */
  dispatcher?: Record<string, string>;
  /** Settings of every service. */
  everywhere?: Record<string, string>;
}

/** A whole Creditlane on databases of its own, with the demo's two tenants and an empty inbox. */
export async function startTestPlatform(options: TestPlatformOptions = {}): Promise<TestPlatform> {
  const { dispatcher, everywhere } = options;
  const log = createLog('world', { level: 'error' });
  const life = { log, metrics: new Metrics(), closers: new Closers(), health: new Health() };
  try {
    const settings = Object.fromEntries(SERVICES.map(({ name }) => [name, { ...everywhere }]));
    const ofDispatcher = { ...everywhere, ...dispatcher };
    return await createTestPlatform({ ...settings, 'webhook-dispatcher': ofDispatcher }, life);
  } catch (error) {
    await life.closers.close();
    throw error;
  }
}

async function createTestPlatform(
  settings: PlatformSettings['settings'] & object,
  life: Process,
): Promise<TestPlatform> {
  const secrets = makeSecrets();
  const suffix = `_${randomBytes(4).toString('hex')}`;
  const adminUrl = inject('postgresUrl');
  const databaseUrls = await prepareDatabases(adminUrl, secrets, suffix);
  life.closers.add('databases', () => dropDatabases(adminUrl, suffix));
  const close = () => life.closers.close();
  const platform = await startShape({ secrets, databaseUrls, settings }, life);
  // Nobody will enter: every test is skipped where there is no Kafka.
  if (platform === undefined) return new TestPlatform({} as Demo, { close } as TestPlatform);

  let records: DemoRecords | undefined;
  const inbox = await startInbox({
    host: HOST,
    port: 0,
    secrets: () => (records === undefined ? [] : [records.webhookSecret]),
    log: life.log,
  });
  life.closers.add('inbox', inbox.close);
  const { baseUrl, opsUrl, settled: settle, metrics } = platform;
  const { platformKey } = secrets;
  records = await seedDemoData({ baseUrl, platformKey, inboxUrl: inbox.url });
  await settle();

  const { key, ...rest } = records;
  const keys = { integration: key, platform: platformKey };
  const world = new TestPlatform({ baseUrl, opsUrl, keys, ...rest }, { settle, metrics, close });
  await world.inbox.empty();
  return world;
}

/** What a test does in the world, each in the words of the promise it checks. */
export class TestPlatform {
  readonly demo: Demo;
  readonly api: Api;
  readonly inbox: Inbox;
  /** Resolves when every event has been handled and every webhook is delivered or waits for its retry. */
  readonly settle: () => Promise<void>;
  readonly metrics: () => Promise<string>;
  readonly close: () => Promise<void>;

  constructor(demo: Demo, platform: Pick<TestPlatform, 'settle' | 'metrics' | 'close'>) {
    this.demo = demo;
    this.api = new Api(demo);
    this.inbox = new Inbox(demo.inboxUrl);
    this.settle = platform.settle;
    this.metrics = platform.metrics;
    this.close = platform.close;
  }

  /** A new application of the first tenant's retailer, submitted to its creditor. */
  async submitApplication(): Promise<SubmissionIds> {
    const created = await this.api.post('/applications', makeApplication(this.demo.retailerId));
    const submitted = await this.submit(created.body);
    if (submitted.status !== 200)
      throw new Error(`not submitted: ${JSON.stringify(submitted.body)}`);
    return { applicationId: created.body.applicationId, creditorId: this.demo.creditorId };
  }

  /** Submits what creating an application answered. */
  submit(application: NewApplication, headers: Record<string, string> = {}): Promise<Answer> {
    const { applicantId } = application.primaryApplicant;
    const body = makeSubmission({ ...this.demo, applicantId });
    return this.api.post(`/applications/${application.applicationId}/submit`, body, { headers });
  }

  decide(
    at: SubmissionIds,
    decision: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const body = { applicationId: at.applicationId, ...decision };
    return this.api.post(decisionPath(at), body, { headers });
  }

  /** The values decided on a submission, oldest first. */
  async history(at: SubmissionIds): Promise<string[]> {
    const { body } = await this.api.get(`${decisionPath(at)}s?limit=100`);
    return body.data.map(({ decision }: { decision: string }) => decision).reverse();
  }

  /** A new key of the demo's integration, and how the platform takes it away. */
  async issueKey(): Promise<{ key: string; revoke(): Promise<void> }> {
    const platform = { key: this.demo.keys.platform };
    const path = `/platform/integrations/${this.demo.integrationId}/keys`;
    const { body } = await this.api.post(path, {}, platform);
    return {
      key: body.key,
      revoke: async () => void (await this.api.call('DELETE', `${path}/${body.keyId}`, platform)),
    };
  }

  /** A key as well formed as any, that nobody issued. */
  unknownKey(): string {
    return generateApiKey(false);
  }

  /** How many attempts the receiver has not accepted since the world began. */
  async refusals(): Promise<number> {
    const failed = /^creditlane_webhook_attempts_total\{.*outcome="(?!delivered)[^"]*".*\} (\d+)/gm;
    const counts = [...(await this.metrics()).matchAll(failed)].map(([, count]) => Number(count));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Resolves once the receiver has refused another attempt. */
  async refusedSince(before: number): Promise<void> {
    await eventually('refused attempt', async () =>
      (await this.refusals()) > before ? true : undefined,
    );
  }
}
