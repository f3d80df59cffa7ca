import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { notFound, toConnectError, toFault } from './fault.ts';

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
