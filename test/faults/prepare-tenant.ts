import {
  type DemoRecords,
  makeApplication,
  makeSubmission,
  seedDemoData,
} from '@creditlane/local/demo';
import { expect } from 'vitest';
import { Api } from '../platform/api-client.ts';
import type { History, Write } from './history/history.ts';
import { markOf } from './history/marker.ts';
import type { Receiver } from './recording-receiver.ts';
import type { Subject } from './system-under-test.ts';
import type { Writer } from './write-load.ts';

/** A tenant of the run's own, whose webhooks go to its receiver, with applications to decide on. */
export async function settleIn(
  subject: Subject,
  receiver: Receiver,
  count: number,
  random: () => number,
) {
  const { baseUrl, keys } = subject.demo;
  const door = { baseUrl, platformKey: keys.platform, inboxUrl: receiver.url };
  const { key, ...records } = await seedDemoData(door);
  receiver.trust(records.webhookSecret);
  const demo = () => ({ ...subject.demo, ...records, keys: { ...keys, integration: key } });
  const api = () => new Api(demo());
  const applications = [records.applicationId];
  while (applications.length < count) {
    applications.push(await submitOne(api(), records));
  }
  const history: History = {
    writes: applications.map(firstWrite),
    reads: [],
    decisions: [],
    events: [],
    arrivals: [],
    recorded: [],
    crashes: [],
  };
  const writer: Writer = { api, creditorId: records.creditorId, random };
  return { history, writer, applications };
}

async function submitOne(api: Api, records: Omit<DemoRecords, 'key'>): Promise<string> {
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

/** Submitting an application makes its first decision. */
function firstWrite(applicationId: string): Write {
  return {
    submission: applicationId,
    mark: markOf(applicationId, undefined),
    decision: 'AWAITING_DECISION',
    webhook: '/awaiting-decision',
    startedMs: 0,
    endedMs: performance.now(),
    outcome: 'ok',
    requests: 1,
  };
}
