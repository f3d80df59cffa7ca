import {
  type DemoRecords,
  makeApplication,
  makeSubmission,
  seedDemoData,
} from '@creditlane/local/demo/demo';
import type { Random } from '@creditlane/runtime/test-seeded-random';
import { expect } from 'vitest';
import { ApiClient } from '../platform/api-client.ts';
import type { History, Write } from './history/history.ts';
import { markerOf } from './history/marker.ts';
import type { RecordingReceiver } from './recording-receiver.ts';
import type { RunProfile } from './run-profile.ts';
import type { SystemUnderTest } from './system-under-test.ts';
import type { Writer } from './write-load.ts';

/** What one fault run works on. */
interface PreparedTenant {
  writer: Writer;
  /** The ids of submitted applications. */
  applications: string[];
  /** Contains the write of each application's submission. */
  history: History;
}

/** Creates a tenant for one run, with submitted applications and webhooks to the run's receiver. */
export async function prepareTenant(
  system: Pick<SystemUnderTest, 'demo'>,
  receiver: RecordingReceiver,
  { applications: applicationCount, requestTimeoutMs }: RunProfile,
  random: Random,
): Promise<PreparedTenant> {
  const { baseUrl, keys } = system.demo;
  const platformKey = keys.platform;
  const { key, ...records } = await seedDemoData({ baseUrl, platformKey, inboxUrl: receiver.url });
  receiver.verifyWith(records.webhookSecret);
  // The platform's address changes with a restart, so each call takes the current one.
  const api = () =>
    new ApiClient({ ...system.demo, ...records, keys: { ...keys, integration: key } });
  const applications = [records.applicationId];
  while (applications.length < applicationCount) {
    applications.push(await submitApplication(api(), records));
  }
  const history: History = {
    writes: applications.map(writeOfSubmission),
    reads: [],
    failedReads: [],
    decisions: [],
    events: [],
    webhooks: [],
    deliveries: [],
    crashes: [],
    overdueAttempts: [],
  };
  const writer = { api, creditorId: records.creditorId, random, requestTimeoutMs };
  return { history, writer, applications };
}

async function submitApplication(
  api: ApiClient,
  records: Omit<DemoRecords, 'key'>,
): Promise<string> {
  const { body: application } = await api.post(
    '/applications',
    makeApplication(records.retailerId),
  );
  const { applicationId, primaryApplicant } = application;
  const submission = makeSubmission({ ...records, ...primaryApplicant });
  const { status } = await api.post(`/applications/${applicationId}/submit`, submission);
  expect(status).toBe(200);
  return applicationId;
}

/** The submission of an application records its first decision, AWAITING_DECISION. */
function writeOfSubmission(applicationId: string): Write {
  return {
    submission: applicationId,
    marker: markerOf(applicationId, undefined),
    decision: 'AWAITING_DECISION',
    webhookPath: '/awaiting-decision',
    startedMs: 0,
    endedMs: performance.now(),
    outcome: 'ok',
    requests: 1,
  };
}
