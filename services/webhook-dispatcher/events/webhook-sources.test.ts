import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { ApplicationExportedSchema } from '@creditlane/proto/applications/v1/applications_events';
import { DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { DecisionRecordedSchema } from '@creditlane/proto/decisions/v1/decisions_events';
import { IntegrationEnabledSchema } from '@creditlane/proto/integrations/v1/integrations_events';
import { expect, test } from 'vitest';
import { UnreadableEventError } from './webhook-event-type.ts';
import { webhookSources } from './webhook-sources.ts';

const lookup = { find: async () => [] };
const notFound = () => Promise.reject(new Error('nothing is rendered'));
const sources = webhookSources({
  granted: lookup,
  ofIntegration: lookup,
  findEnablement: notFound,
  findExport: notFound,
});

/** By the name of a field. A letter in each id, so that it differs in upper case. */
const idsOf = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, randomUUID().replace(/^./, 'a')]));

const DECISION_IDS = idsOf('applicationId', 'creditorId', 'retailerId');
const ENABLING_IDS = idsOf('enablementId', 'integrationId', 'retailerId');
const EXPORT_IDS = idsOf(
  ...['exportId', 'applicationId', 'creditorId', 'retailerId', 'integrationId'],
);

const EVENTS = [
  {
    busEventType: 'creditlane.decisions.v1.DecisionRecorded',
    ids: DECISION_IDS,
    make: (ids: object) =>
      create(DecisionRecordedSchema, { ...ids, decision: { decision: DecisionValue.BOOKED } }),
  },
  {
    busEventType: 'creditlane.integrations.v1.IntegrationEnabled',
    ids: ENABLING_IDS,
    make: (ids: object) => create(IntegrationEnabledSchema, ids),
  },
  {
    busEventType: 'creditlane.applications.v1.ApplicationExported',
    ids: EXPORT_IDS,
    make: (ids: object) => create(ApplicationExportedSchema, ids),
  },
];

test.each(EVENTS)('$busEventType has a webhook', ({ busEventType, ids, make }) => {
  const source = sources.find((it) => it.busEventType === busEventType);
  expect(source?.eventTypeOf(make(ids))).toBeDefined();
});

// Ids are compared as text: one in upper case would begin a sequence of its own, and miss its busy lane.
test.each(EVENTS.flatMap((event) => Object.keys(event.ids).map((name) => ({ name, ...event }))))(
  '$busEventType with $name in upper case is unreadable',
  ({ busEventType, ids, make, name }) => {
    const source = sources.find((it) => it.busEventType === busEventType);
    const event = make({ ...ids, [name]: ids[name]?.toUpperCase() });
    expect(() => source?.eventTypeOf(event)).toThrow(UnreadableEventError);
  },
);
