import { expect, test } from 'vitest';
import { acceptedRequestId } from './request-id.ts';
import { GET_DECISION, MOUNTS, startTestService, TEST_INTEGRATION } from './test-service.ts';

const VISIBLE_ASCII = String.fromCharCode(
  ...Array.from({ length: 94 }, (_, index) => 0x21 + index),
);
const ACCEPTED = ['order-7781', 'x'.repeat(129), 'x'.repeat(200), VISIBLE_ASCII];

test('1 to 200 visible ASCII characters are accepted', () => {
  expect(ACCEPTED.map(acceptedRequestId)).toEqual(ACCEPTED);
});

test.each([
  { what: 'no header', header: undefined },
  { what: 'an empty header', header: '' },
  { what: 'a space', header: 'two words' },
  { what: 'a line break', header: 'a\nb' },
  { what: 'a letter beyond ASCII', header: 'é' },
  { what: '201 characters', header: 'x'.repeat(201) },
  { what: 'two headers', header: ['a', 'b'] },
])('$what is replaced by a new id', ({ header }) => {
  expect(acceptedRequestId(header)).toMatch(/^[\da-f-]{36}$/);
});

test.each(MOUNTS)('a service reached over %s keeps every accepted id', async (mount) => {
  const { decisions, handled } = await startTestService(mount);
  for (const requestId of ACCEPTED) {
    await decisions.getDecision(GET_DECISION, { identity: TEST_INTEGRATION, requestId });
  }
  expect(handled.map(({ requestId }) => requestId)).toEqual(ACCEPTED);
});
