import { create, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import {
  CreateApplicationRequestSchema,
  SubmitApplicationRequestSchema,
} from '@creditlane/proto/applications/v1/applications_service';
import { RegisterUserRequestSchema } from '@creditlane/proto/applications/v1/directory_service';
import { FaultInfoSchema } from '@creditlane/proto/common/v1/fault';
import { SetBureauCredentialsRequestSchema } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { describe, expect, test } from 'vitest';
import { Fault } from '../fault.ts';
import { checkRules, warmUpRules } from './input-rules.ts';

function refusalOf<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Fault {
  warmUpRules(schema);
  try {
    checkRules(schema, create(schema, init));
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('the request is valid');
}

const many = <T>(item: T, count = 2_001): T[] => Array(count).fill(item);
const applicant = { firstName: 'Maya', lastName: 'Tremblay', dateOfBirth: '1988-07-14' };

describe('a list that is too long is the only field named', () => {
  test('at the top of a request', () => {
    const refusal = refusalOf(SubmitApplicationRequestSchema, { creditorIds: many('x') });
    expect(refusal).toMatchObject({
      code: 'invalid_request',
      message: '/creditorIds must contain no more than 20 item(s)',
    });
    expect(refusal.fields).toEqual([
      { pointer: '/creditorIds', message: 'must contain no more than 20 item(s)' },
    ]);
  });

  test('within a message', () => {
    const coApplicant = { ...applicant, employmentHistory: many({}) };
    const refusal = refusalOf(CreateApplicationRequestSchema, {
      primaryApplicant: applicant,
      coApplicant,
    });
    expect(refusal.fields).toEqual([
      {
        pointer: '/coApplicant/employmentHistory',
        message: 'must contain no more than 20 item(s)',
      },
    ]);
  });
});

test('of many wrong fields the first twenty are named, and the message tells how many others there are', () => {
  const refusal = refusalOf(RegisterUserRequestSchema, { user: { retailerIds: many('x', 1_000) } });
  expect(refusal.fields).toHaveLength(20);
  expect(refusal.message).toMatch(/^\/user\/userId is empty, .*; and 982 more fields$/);
});

test('a list without a limit is refused at start, with its name', () => {
  expect(() => warmUpRules(FaultInfoSchema)).toThrow(
    'field creditlane.common.v1.FaultInfo.fields has no max_items',
  );
});

test('a message in a oneof is checked by the rules of its fields', () => {
  const value = { memberCode: '', password: 'x', baseUrl: 'https://bureau.example.com' };
  const refusal = refusalOf(SetBureauCredentialsRequestSchema, {
    retailerId: '0198c0de-0000-7000-8000-00000000a001',
    credentials: { case: 'transunion', value },
  });
  expect(refusal.fields.map(({ pointer }) => pointer)).toEqual(['/transunion/memberCode']);
});
