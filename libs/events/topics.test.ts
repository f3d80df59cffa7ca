import { randomUUID } from 'node:crypto';
import { create, ScalarType, toBinary } from '@bufbuild/protobuf';
import { DecisionSchema } from '@creditlane/proto/decisions/v1/decision';
import { DecisionRecordedSchema } from '@creditlane/proto/decisions/v1/decisions_events';
import { expect, test } from 'vitest';
import { MAX_EVENT_BYTES, sizeOf, toMessage } from './message.ts';
import { decodeEvent, encodeEvent } from './topics.ts';

const TYPE = 'creditlane.decisions.v1.DecisionRecorded';

test('an event survives the way through JSON and bytes', () => {
  const message = toMessage(
    {
      id: '1',
      topic: 'creditlane.decisions.v1',
      key: 'a',
      type: TYPE,
      payload: { applicationId: 'a', sequence: 3, terms: { interestRate: 5.99 } },
      time: new Date('2026-01-02T03:04:05.678Z'),
    },
    'decisions',
  );
  expect(message.headers.ce_time).toBe('2026-01-02T03:04:05.678Z');
  expect(message.headers).not.toHaveProperty('traceparent');
  const { type, event } = decodeEvent(message);
  expect(type).toBe(TYPE);
  expect(event).toMatchObject({ applicationId: 'a', sequence: 3n, terms: { interestRate: 5.99 } });
});

test('bytes of a newer version, with fields unknown here, are understood as far as they can be', () => {
  const bytes = toBinary(
    DecisionRecordedSchema,
    create(DecisionRecordedSchema, { creditorId: 'c' }),
  );
  // Field 999, a varint.
  const value = Buffer.concat([bytes, Buffer.from([0xb8, 0x3e, 0x01])]);
  const { event } = decodeEvent({ headers: { ce_type: TYPE }, value });
  expect(event).toMatchObject({ creditorId: 'c' });
});

test('a payload that is not an event of its type is refused with an error that names only the type', () => {
  expect(() => encodeEvent(TYPE, { applicationId: 7 })).toThrow(`the payload is not a ${TYPE}`);
  expect(() => encodeEvent(TYPE, { newer: true })).toThrow(`the payload is not a ${TYPE}`);
  expect(() => encodeEvent('toString', {})).toThrow('unknown event type "toString"');
  const garbled = { headers: { ce_type: TYPE }, value: Buffer.from([0xff]) };
  expect(() => decodeEvent(garbled)).toThrow(`the value is not a ${TYPE}`);
});

test('the largest event takes half of what a topic must permit', () => {
  const longest = Object.fromEntries(
    DecisionSchema.fields.map(({ jsonName, scalar }) => {
      if (scalar !== ScalarType.STRING) return [jsonName, 1];
      // In UTF-8 each character has four bytes.
      return [jsonName, '\u{1d4b3}'.repeat(jsonName === 'conditions' ? 10_000 : 200)];
    }),
  );
  const event = { id: randomUUID(), topic: 'creditlane.decisions.v1', type: TYPE } as const;
  const payload = { applicationId: randomUUID(), decision: longest };
  const recorded = { ...event, payload, key: payload.applicationId, time: new Date() };
  expect(sizeOf(toMessage(recorded, 'decisions'))).toBeLessThan(MAX_EVENT_BYTES / 2);
});
