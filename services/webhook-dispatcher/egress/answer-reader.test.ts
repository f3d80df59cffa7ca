import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AnswerEnd, AnswerReader } from './answer-reader.ts';

/** The end of an answer whose bytes come in pieces of these sizes; the last piece is the rest. */
function read(text: string, sizes: readonly number[] = [], keptBytes = 0): AnswerEnd {
  const reader = new AnswerReader(() => keptBytes);
  const bytes = Buffer.from(text, 'latin1');
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    const end = reader.read(bytes.subarray(at, at + size));
    if (end !== undefined) return end;
    at += size;
  }
  return reader.endWithConnection();
}

const answered = (status: number, keepAliveMs: number, retryAfterMs?: number): AnswerEnd => ({
  outcome: { kind: 'answered', status, ...(retryAfterMs !== undefined && { retryAfterMs }) },
  keepAliveMs,
});
const failed = (reason: string): AnswerEnd => ({
  outcome: { kind: 'failed', reason },
  keepAliveMs: 0,
});

const COMPLETE: [what: string, answer: string, end: AnswerEnd][] = [
  [
    'a body of known length',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    answered(200, 4_000),
  ],
  ['no body', 'HTTP/1.1 204\r\n\r\n', answered(204, 4_000)],
  ['lines that end with LF alone', 'HTTP/1.1 500 \ncontent-length: 0\n\n', answered(500, 4_000)],
  [
    'chunks, an extension and a trailer',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n003;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nx: y\r\n\r\n',
    answered(200, 4_000),
  ],
  [
    'interim answers before it',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n',
    answered(202, 4_000),
  ],
  [
    'a time for which the connection is kept',
    'HTTP/1.1 200 OK\r\nkeep-alive: timeout=30, max=5\r\ncontent-length: 0\r\n\r\n',
    answered(200, 28_000),
  ],
  [
    'a very long time for which the connection is kept',
    'HTTP/1.1 200 OK\r\nkeep-alive: timeout=999999\r\ncontent-length: 0\r\n\r\n',
    answered(200, 60_000),
  ],
  [
    'two delays before the next attempt, of which the first counts,',
    'HTTP/1.1 503 Busy\r\nretry-after: 7\r\nretry-after: 9\r\ncontent-length: 0\r\n\r\n',
    answered(503, 4_000, 7_000),
  ],
];

const NOT_REUSABLE: [what: string, answer: string, end: AnswerEnd][] = [
  ['ends with the connection', 'HTTP/1.1 200 OK\r\n\r\nbody', answered(200, 0)],
  [
    'closes the connection',
    'HTTP/1.1 200 OK\r\nconnection: Close\r\ncontent-length: 0\r\n\r\n',
    answered(200, 0),
  ],
  ['is of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', answered(200, 0)],
  ['announces a body with 204', 'HTTP/1.1 204 No\r\ncontent-length: 5\r\n\r\n', answered(204, 0)],
  ['has bytes after it', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP', answered(200, 0)],
  [
    'has a transfer coding that is not decoded',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    answered(200, 0),
  ],
  [
    'has more than 64 KiB of body',
    `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(65_537)}`,
    answered(200, 0),
  ],
];

describe('an answer', () => {
  test.each(COMPLETE)(
    'with %s is read to its end, and the connection is kept',
    (_, answer, end) => {
      expect(read(answer)).toEqual(end);
    },
  );

  test.each(NOT_REUSABLE)('that %s counts, and the connection is closed', (_, answer, end) => {
    expect(read(answer)).toEqual(end);
  });

  test.each([
    ['a status line of another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n'],
    ['a control character in a header', 'HTTP/1.1 200 OK\r\na: \0\r\n'],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\nabc\r\n'],
  ])('with %s is malformed', (_, answer) => {
    expect(read(answer)).toEqual(failed('answer_malformed'));
  });

  test('with 1,000 headers, trailers included, counts; with 1,001 in its head it fails', () => {
    const headers = (count: number) => 'a: b\r\n'.repeat(count);
    const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n';
    expect(read(`${chunked}${headers(990)}\r\n0\r\n${headers(9)}\r\n`)).toEqual(
      answered(200, 4_000),
    );
    expect(read(`${chunked}${headers(990)}\r\n0\r\n${headers(10)}\r\n`)).toEqual(answered(200, 0));
    expect(read(`${chunked}${headers(1_000)}\r\n0\r\n\r\n`)).toEqual(failed('too_many_headers'));
  });

  test.each(['', 'HTTP/1.1 200 OK', 'HTTP/1.1 200 OK\r\na: b'])(
    'that the connection cuts off as %j, within a line of its head, is none',
    (answer) => expect(read(answer)).toEqual(failed('connection_closed')),
  );

  test('ends in the same way however its bytes are split', () => {
    const answers = [...COMPLETE, ...NOT_REUSABLE.slice(0, -1)].map(([, answer]) => answer);
    fc.assert(
      fc.property(
        fc.constantFrom(...answers),
        fc.array(fc.integer({ min: 0, max: 9 })),
        (answer, sizes) => {
          const { outcome } = read(answer, sizes);
          expect(outcome).toEqual(read(answer).outcome);
        },
      ),
    );
  });

  test('of any bytes has an outcome, and never throws', () => {
    const part = fc.oneof(
      fc.constantFrom('HTTP/1.1 200 OK', '\r\n', 'transfer-encoding: chunked', '\0', '0', '5;'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const end = read(`HTTP/1.1 200 OK\r\n${parts.join('')}`);
        expect(['answered', 'failed']).toContain(end.outcome.kind);
      }),
    );
  });
});

describe('the beginning of the body', () => {
  const inLatin1 = (text: string) => Buffer.from(text).toString('latin1');
  const startOf = (answer: string, sizes: readonly number[] = []) => {
    const { outcome } = read(answer, sizes, 5);
    return outcome.kind === 'answered' ? outcome.bodyStart : outcome;
  };
  const withLength = (body: string) =>
    `HTTP/1.1 400 Bad\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${inLatin1(body)}`;

  test.each([
    ['a body that is shorter', withLength('no'), 'no'],
    ['a longer body', withLength('no, never'), 'no, n'],
    ['a character that is cut', withLength('noooé'), 'nooo'],
    ['bytes that are no UTF-8', 'HTTP/1.1 400\r\ncontent-length: 2\r\n\r\n\xffa', '\ufffda'],
    ['no body', withLength(''), undefined],
    [
      'chunks',
      'HTTP/1.1 400\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n4\r\n, ne\r\n0\r\n\r\n',
      'no, n',
    ],
    ['a body until the end of the connection', 'HTTP/1.1 400\r\n\r\nno, never', 'no, n'],
  ])('is kept of %s, however it is cut into pieces', (_, answer, start) => {
    expect(startOf(answer)).toBe(start);
    expect(startOf(answer, Array(answer.length).fill(1))).toBe(start);
  });

  test('is kept of the final answer with a status that asks for it', () => {
    const reader = new AnswerReader((status) => (status === 400 ? 5 : 0));
    const answer = `HTTP/1.1 100 Go on\r\n\r\n${withLength('no')}`;
    expect(reader.read(Buffer.from(answer))?.outcome).toMatchObject({ bodyStart: 'no' });
    const other = new AnswerReader((status) => (status === 400 ? 5 : 0));
    const success = withLength('no').replace('400 Bad', '200 OK');
    expect(other.read(Buffer.from(success))?.outcome).toEqual({ kind: 'answered', status: 200 });
  });

  test('is not kept where nobody asks for it', () => {
    expect(read(withLength('no')).outcome).toEqual({ kind: 'answered', status: 400 });
  });
});
