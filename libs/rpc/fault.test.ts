import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { invalidFields, notFound, toConnectError, toFault } from './fault.ts';

const CODES = Object.values(Code).filter((code) => typeof code === 'number');

test.each(CODES.map((code) => [Code[code], code] as const))(
  'the text of a transport’s error %s is its cause, and callers get a fixed message',
  (_, code) => {
    const fault = toFault(new ConnectError('10.0.0.7:50051 refused the stream', code), true);
    expect(fault.message).not.toContain('10.0.0.7');
    expect(fault.message).not.toBe('');
    expect((fault.cause as Error).message).toBe('10.0.0.7:50051 refused the stream');
    expect(fault.fromPeer).toBe(true);
  },
);

test('a fault that a service sent keeps its message', () => {
  const sent = toConnectError(notFound('submission_not_found', 'There is no such submission.'));
  expect(toFault(sent)).toMatchObject({
    kind: 'not_found',
    code: 'submission_not_found',
    message: 'There is no such submission.',
  });
});

const wrongFields = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ pointer: `/ids/${n}`, message: 'must be a UUID' }));

test('the first twenty wrong fields are named, and the message tells how many others there are', () => {
  const { message, fields } = invalidFields('invalid_request', wrongFields(23));
  expect(fields).toEqual(wrongFields(20));
  expect(message).toMatch(
    /^\/ids\/0 must be a UUID; .*; \/ids\/19 must be a UUID; and 3 more fields$/,
  );
  expect(invalidFields('invalid_request', wrongFields(21)).message).toMatch(/; and 1 more field$/);
});

test('twenty wrong fields are all named', () => {
  expect(invalidFields('invalid_request', wrongFields(20)).message).toMatch(
    /; \/ids\/19 must be a UUID$/,
  );
});

test('a parameter is named with its place, and the whole body by words', () => {
  const message = 'must be a UUID';
  expect(
    invalidFields('invalid_request', [{ in: 'path', pointer: '/creditorId', message }]).message,
  ).toBe('/creditorId in the path must be a UUID');
  expect(
    invalidFields('invalid_request', [{ pointer: '', message: 'must be an object' }]).message,
  ).toBe('the body must be an object');
});
