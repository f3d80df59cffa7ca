// The check that the tests' HTTP clients make of every answer, with answers that differ from the document.
import { newId } from '@creditlane/runtime/ids';
import { describe, expect, test } from 'vitest';
import { requireDescribedAnswer } from './test-described-answers.ts';

const decision = { applicationId: newId(), creditorId: newId(), decision: 'BOOKED' };
const URL_OF_DECISION = `http://127.0.0.1/v1/applications/${newId()}/creditors/${newId()}/decision`;
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

interface Seeded {
  method?: string;
  url?: string;
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

function check({ method = 'GET', url = URL_OF_DECISION, status = 200, ...more }: Seeded): void {
  const headers = { 'x-request-id': 'r', ...JSON_TYPE, ...more.headers };
  const text = JSON.stringify(more.body ?? decision);
  const response = new Response(null, { status, headers });
  Object.defineProperty(response, 'url', { value: url });
  requireDescribedAnswer(method, response, text);
}

describe('an answer that the document describes', () => {
  test('is accepted', () => {
    expect(() => check({})).not.toThrow();
  });

  test.each<[string, Seeded, string]>([
    ['a field that is not described', { body: { ...decision, tier: 'A' } }, 'tier'],
    ['a value of the wrong type', { body: { ...decision, interestRate: '7' } }, '/interestRate'],
    ['a value outside the enumeration', { body: { ...decision, decision: 'SOLD' } }, '/decision'],
    ['a field missing', { body: { decision: 'BOOKED' } }, 'applicationId'],
    ['a status that is not described', { status: 201 }, 'answered 201'],
    ['a header that is not described', { headers: { 'x-tier': 'A' } }, 'x-tier'],
    ['another content type', { headers: { 'content-type': 'text/plain' } }, 'text/plain'],
    ['a path of no operation', { url: 'http://127.0.0.1/v1/decisions' }, 'no operation'],
    [
      'a required header missing',
      {
        status: 503,
        body: { status: 503, message: 'm', code: 'unavailable', requestId: 'r' },
      },
      'Retry-After is missing',
    ],
    [
      'a wrong field in a record of a list',
      { url: `${URL_OF_DECISION}s`, body: { data: [{ decision: 1 }], nextCursor: null } },
      '/data/0/decision',
    ],
  ])('with %s is refused', (_, seeded, named) => {
    expect(() => check(seeded)).toThrow(named);
  });
});
