import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import {
  CreateApplicationRequestSchema,
  SubmitApplicationRequestSchema,
} from '@creditlane/proto/applications/v1/applications_service';
import { RegisterUserRequestSchema } from '@creditlane/proto/applications/v1/directory_service';
import { FaultInfoSchema } from '@creditlane/proto/common/v1/fault';
import { SetBureauCredentialsRequestSchema } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import {
  FindRecipientsRequestSchema,
  RegisterIntegrationRequestSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { describe, expect, test } from 'vitest';
import { Fault } from '../fault.ts';
import { DEFAULT_MAX_REQUEST_BYTES } from '../server-options.ts';
import { checkRules, warmUpRules } from './input-rules.ts';

/**
 * Permitted beside the decoding. The e-mail address of many labels takes almost no time to decode, and 2.5 ms to refuse: an
 * eighth of this.
 */
const MARGIN_MS = 20;

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

/** The CPU time of this thread for the work. */
function cpuMsOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
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
  expect(refusal.message).toMatch(/^\/user\/userId is empty, .*; and 984 more fields$/);
});

test('a list without a limit is refused at start, with its name', () => {
  expect(() => warmUpRules(FaultInfoSchema)).toThrow(
    'field creditlane.common.v1.FaultInfo.fields has no max_items',
  );
});

describe('a request of the largest size takes at most twice the CPU time of its decoding, and 20 ms, to refuse', () => {
  const size = (schema: DescMessage, init: MessageInitShape<DescMessage>) =>
    toBinary(schema, create(schema, init));
  const half = DEFAULT_MAX_REQUEST_BYTES / 2;

  test.each([
    {
      what: 'empty ids',
      schema: RegisterUserRequestSchema,
      init: { user: { retailerIds: many('', half - 10) } },
    },
    {
      what: 'unknown permissions',
      schema: RegisterIntegrationRequestSchema,
      init: { permissions: many(9, 2 * half - 10) },
    },
    {
      what: 'empty pairs',
      schema: FindRecipientsRequestSchema,
      init: { pairs: many({}, half - 10) },
    },
    {
      what: 'empty addresses',
      schema: CreateApplicationRequestSchema,
      init: { primaryApplicant: { addressHistory: many({}, half - 10) } },
    },
    {
      what: 'an e-mail address of many labels',
      schema: RegisterUserRequestSchema,
      init: { user: { email: `a@${'a.'.repeat(half - 20)}!` } },
    },
  ])('$what', ({ schema, init }) => {
    const bytes = size(schema, init as MessageInitShape<DescMessage>);
    expect(bytes.length).toBeLessThan(DEFAULT_MAX_REQUEST_BYTES);
    const refuse = () => {
      expect(() => checkRules(schema, fromBinary(schema, bytes))).toThrow(/^\/\w+/);
    };
    // Measured in turns, so that other load of the machine slows both alike. The first rounds run code that is not compiled yet.
    const costs = Array.from({ length: 12 }, () => ({
      decoding: cpuMsOf(() => fromBinary(schema, bytes)),
      refusing: cpuMsOf(refuse),
    }));
    const leastOf = (what: 'decoding' | 'refusing') => Math.min(...costs.map((it) => it[what]));
    expect(leastOf('refusing')).toBeLessThan(2 * leastOf('decoding') + MARGIN_MS);
  });
});

test('a message in a oneof is checked by the rules of its fields', () => {
  const value = { memberCode: '', password: 'x', baseUrl: 'https://bureau.example.com' };
  const refusal = refusalOf(SetBureauCredentialsRequestSchema, {
    retailerId: '0198c0de-0000-7000-8000-00000000a001',
    credentials: { case: 'transunion', value },
  });
  expect(refusal.fields.map(({ pointer }) => pointer)).toEqual(['/transunion/memberCode']);
});
