import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import { CreateApplicationRequestSchema } from '@creditlane/proto/applications/v1/applications_service';
import { RegisterUserRequestSchema } from '@creditlane/proto/applications/v1/directory_service';
import {
  FindRecipientsRequestSchema,
  RegisterIntegrationRequestSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { expectAtMost, mediansInTurns, threadCpuMsOf } from '@creditlane/runtime/test-measures';
import { describe, expect, test } from 'vitest';
import { DEFAULT_MAX_REQUEST_BYTES } from '../server-options.ts';
import { checkRules } from './input-rules.ts';

/**
 * Permitted beside the decoding. The e-mail address of many labels takes almost no time to decode, and 2.5 ms to refuse: an
 * eighth of this.
 */
const MARGIN_MS = 20;

const many = <T>(item: T, count: number): T[] => Array(count).fill(item);

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
  ])('$what', async ({ what, schema, init }) => {
    const bytes = size(schema, init as MessageInitShape<DescMessage>);
    expect(bytes.length).toBeLessThan(DEFAULT_MAX_REQUEST_BYTES);
    const refuse = () => {
      expect(() => checkRules(schema, fromBinary(schema, bytes))).toThrow(/^\/\w+/);
    };
    const { decoding, refusing } = await mediansInTurns(
      {
        decoding: () => threadCpuMsOf(() => fromBinary(schema, bytes)),
        refusing: () => threadCpuMsOf(refuse),
      },
      11,
    );
    const limitMs = Math.round(2 * decoding + MARGIN_MS);
    expectAtMost(limitMs, `CPU ms to refuse ${what}`, refusing);
  });
});
