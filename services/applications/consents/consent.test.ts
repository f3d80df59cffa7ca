import { create } from '@bufbuild/protobuf';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { RecordConsentRequestSchema } from '@creditlane/proto/applications/v1/consents_service';
import { Fault } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { newConsent, type RecordingFacts } from './consent.ts';

const NOW = new Date('2026-11-22T12:00:00.000Z');

const facts: RecordingFacts = {
  archived: false,
  erased: false,
  retailer: { id: 'retailer', retailerGroupId: null },
  user: { active: true, retailerIds: ['retailer'], retailerGroupIds: [] },
  lastRevokedAt: undefined,
};

interface Terms {
  textVersion?: string;
  capturedAt?: string;
  expiresAt?: string;
}

function record({ textVersion = 'v3', capturedAt, expiresAt }: Terms, change: object = {}) {
  const time = (text: string) => timestampFromDate(new Date(text));
  const request = create(RecordConsentRequestSchema, {
    textVersion,
    ...(capturedAt !== undefined && { capturedAt: time(capturedAt) }),
    ...(expiresAt !== undefined && { expiresAt: time(expiresAt) }),
  });
  return newConsent(request, { ...facts, ...change }, 'id', NOW);
}

/** When a consent begins and ends, or the faults of its fields. */
function outcome(terms: Terms) {
  try {
    const { capturedAt, expiresAt } = record(terms);
    return [capturedAt, expiresAt].map((time) => time && timestampDate(time).toISOString());
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.fields.map(({ pointer, message }) => `${pointer} ${message}`);
  }
}

describe('a consent', () => {
  test('without times is captured now and ends a year later', () => {
    expect(outcome({})).toEqual(['2026-11-22T12:00:00.000Z', '2027-11-22T12:00:00.000Z']);
  });

  test.each<[string, Terms, string[]]>([
    [
      'five minutes ahead, as by another clock',
      { capturedAt: '2026-11-22T12:05:00Z' },
      ['2026-11-22T12:05:00.000Z', '2027-11-22T12:05:00.000Z'],
    ],
    [
      'more than two years ago',
      { capturedAt: '2024-11-22T12:00:00Z' },
      ['/capturedAt must be less than 2 years ago'],
    ],
    [
      'for two years',
      { capturedAt: '2026-11-20T08:00:00Z', expiresAt: '2028-11-20T08:00:00Z' },
      ['2026-11-20T08:00:00.000Z', '2028-11-20T08:00:00.000Z'],
    ],
    [
      'for longer than two years',
      { capturedAt: '2026-11-20T08:00:00Z', expiresAt: '2028-11-20T08:00:00.001Z' },
      ['/expiresAt must be at most 2 years after capturedAt'],
    ],
    [
      'later than five minutes ahead',
      { capturedAt: '2026-11-22T12:05:00.001Z' },
      ['/capturedAt must not be in the future'],
    ],
    [
      'a year ago',
      { capturedAt: '2025-11-22T12:00:00Z' },
      ['/capturedAt must be less than a year ago without expiresAt'],
    ],
    [
      'a year ago, with an end that is still to come',
      { capturedAt: '2025-11-22T12:00:00Z', expiresAt: '2026-12-01T00:00:00Z' },
      ['2025-11-22T12:00:00.000Z', '2026-12-01T00:00:00.000Z'],
    ],
    [
      'that has ended',
      { capturedAt: '2026-11-20T08:00:00Z', expiresAt: '2026-11-22T12:00:00Z' },
      ['/expiresAt must be in the future'],
    ],
    [
      'that ended before it began',
      { expiresAt: '2020-01-01T00:00:00Z' },
      ['/expiresAt must be in the future'],
    ],
    ['to a blank text', { textVersion: ' ' }, ['/textVersion must not be blank']],
    [
      'to a text that cannot be stored',
      { textVersion: 'v\0' },
      ['/textVersion must not contain control characters'],
    ],
  ])('captured %s has these times or faults', (_, terms, expected) => {
    expect(outcome(terms)).toEqual(expected);
  });

  test('captured up to the last revocation is refused; a later one and one of now are not', () => {
    const capturedAt = '2026-11-20T08:00:00.000Z';
    const revoked = { lastRevokedAt: new Date(capturedAt) };
    const message = `must be after ${capturedAt}, when the applicant's consents were revoked`;
    expect(() => record({ capturedAt }, revoked)).toThrow(
      expect.objectContaining({
        code: 'invalid_consent',
        fields: [{ pointer: '/capturedAt', message }],
      }),
    );
    expect(record({ capturedAt: '2026-11-20T08:00:00.001Z' }, revoked).id).toBe('id');
    expect(record({}, { lastRevokedAt: NOW }).id).toBe('id');
  });

  test.each([
    ['an unknown user', undefined],
    ['an inactive user', { active: false, retailerIds: ['retailer'], retailerGroupIds: [] }],
    ['another retailer’s user', { active: true, retailerIds: ['x'], retailerGroupIds: [] }],
  ])('captured by %s is refused', (_, user) => {
    expect(() => record({}, { user })).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'ineligible_user' }),
    );
  });

  test('for an applicant who was erased is a conflict', () => {
    expect(() => record({}, { erased: true })).toThrow(
      expect.objectContaining({ kind: 'conflict', code: 'applicant_erased' }),
    );
  });

  test('for an archived application is a conflict', () => {
    expect(() => record({}, { archived: true })).toThrow(
      expect.objectContaining({ kind: 'conflict', code: 'application_archived' }),
    );
  });
});
