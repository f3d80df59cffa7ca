import { describe, expect, test } from 'vitest';
import { egress, post, rawReceiver } from './test-egress.ts';

/** A row of the table: whether curl 7.88, urllib of Python 3.11 and fetch of Node 24 take the answer. */
interface Row {
  readonly answer: string;
  readonly takenBy: readonly Client[];
  /** The receiver ends the connection after the answer. */
  readonly ends?: true;
  /** No rule of HTTP is broken, so the connection carries the next request. */
  readonly isValid?: true;
}

type Client = 'curl' | 'urllib' | 'fetch';
const ALL = ['curl', 'urllib', 'fetch'] as const;
const NOT_FETCH = ['curl', 'urllib'] as const;
const NOT_URLLIB = ['curl', 'fetch'] as const;
const NOT_CURL = ['urllib', 'fetch'] as const;

const OK = 'HTTP/1.1 200 OK\r\n';
const BODY = 'Content-Length: 2\r\n\r\nok';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const withHeader = (line: string) => `${OK}${line}\r\n${BODY}`;
const withLength = (length: string) => `${OK}Content-Length: ${length}\r\n\r\nok`;

/**
 * An answer is taken by a client that returns its status. An error that the client reports later, while it reads the body, is
 * none of the status: curl then exits with 18, 28 or 56 and prints 200.
 */
const ROWS: Readonly<Record<string, Row>> = {
  'two equal lengths': { answer: withHeader('Content-Length: 2'), takenBy: NOT_FETCH },
  'a list of equal lengths': { answer: withLength('0, 0'), takenBy: NOT_FETCH },
  'two different lengths': { answer: withHeader('Content-Length: 3'), takenBy: NOT_FETCH },
  'a list of different lengths': { answer: withLength('1, 2'), takenBy: NOT_FETCH },
  'a hexadecimal length': { answer: withLength('0x2'), takenBy: NOT_FETCH },
  'a length with a sign': { answer: withLength('+2'), takenBy: NOT_FETCH },
  'a length with a fraction': { answer: withLength('2.0'), takenBy: NOT_FETCH },
  'a length of 30 digits': { answer: withLength('9'.repeat(30)), takenBy: NOT_FETCH },
  'an empty length': { answer: withLength(''), takenBy: ['urllib'] },
  'a negative length': { answer: withLength('-1'), takenBy: ['urllib'] },
  'a length that is no number': { answer: withLength('abc'), takenBy: ['urllib'] },
  'a length and chunks': {
    answer: `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    takenBy: NOT_FETCH,
  },
  'an unknown transfer coding': {
    answer: `${OK}Transfer-Encoding: xyz\r\n\r\nok`,
    takenBy: ALL,
  },
  'a folded header': { answer: withHeader('A: b\r\n c'), takenBy: NOT_FETCH },
  'a folded header by a tab': { answer: withHeader('A: b\r\n\tc'), takenBy: NOT_FETCH },
  'a fold of nothing': { answer: withHeader('A: b\r\n '), takenBy: NOT_FETCH },
  'a fold before any header': { answer: withHeader(' A: b'), takenBy: ['urllib'] },
  'a space before a colon': { answer: withHeader('X-A : b'), takenBy: NOT_FETCH },
  'a space before the colon of the length': {
    answer: `${OK}Content-Length : 2\r\n\r\nok`,
    takenBy: NOT_FETCH,
  },
  'a space within a header name': { answer: withHeader('X A: b'), takenBy: NOT_FETCH },
  'a header name in parentheses': { answer: withHeader('(A): b'), takenBy: NOT_FETCH },
  'an empty header name': { answer: withHeader(': b'), takenBy: NOT_FETCH },
  'a header without a colon': { answer: withHeader('abc'), takenBy: ['urllib'] },
  'a control character in a header': { answer: withHeader('A: b\x01'), takenBy: NOT_FETCH },
  'a NUL in a header': { answer: withHeader('A: b\0'), takenBy: ['urllib'] },
  'a CR in a header': { answer: withHeader('A: b\rc'), takenBy: NOT_FETCH },
  'lines that end with two CR': {
    answer: withHeader('A: b').replaceAll('\r\n', '\r\r\n'),
    takenBy: NOT_FETCH,
  },
  'a blank line before it': { answer: `\r\n${OK}${BODY}`, takenBy: ['fetch'] },
  'a space before it': { answer: ` ${OK}${BODY}`, takenBy: ['urllib'] },
  'a tab after the status': { answer: `HTTP/1.1 200\tOK\r\n${BODY}`, takenBy: NOT_FETCH },
  'two spaces before the status': { answer: `HTTP/1.1  200 OK\r\n${BODY}`, takenBy: NOT_FETCH },
  'a control character in the reason': {
    answer: `HTTP/1.1 200 O\x01K\r\n${BODY}`,
    takenBy: ALL,
  },
  'a NUL in the reason': { answer: `HTTP/1.1 200 O\0K\r\n${BODY}`, takenBy: NOT_CURL },
  'a status of four digits': { answer: `HTTP/1.1 2000 OK\r\n${BODY}`, takenBy: [] },
  'a status without a space after it': { answer: `HTTP/1.1 200OK\r\n${BODY}`, takenBy: ['curl'] },
  'the version 0.9': { answer: `HTTP/0.9 200 OK\r\n${BODY}`, takenBy: NOT_CURL },
  'the version 1.2': { answer: `HTTP/1.2 200 OK\r\n${BODY}`, takenBy: ['urllib'] },
  'the version 2.0': { answer: `HTTP/2.0 200 OK\r\n${BODY}`, takenBy: NOT_URLLIB },
  'the version 2': { answer: `HTTP/2 200 OK\r\n${BODY}`, takenBy: ['curl'] },
  'five answers of 103 before it': {
    answer: `${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(5)}${OK}${BODY}`,
    takenBy: NOT_URLLIB,
    isValid: true,
  },
  '66 headers': { answer: withHeader(`${'A: b\r\n'.repeat(64)}A: b`), takenBy: ALL, isValid: true },
  '300 headers': {
    answer: withHeader(`${'A: b\r\n'.repeat(298)}A: b`),
    takenBy: NOT_URLLIB,
    isValid: true,
  },
  'a head of 17 KB': {
    answer: withHeader(`A: ${'x'.repeat(17_000)}`),
    takenBy: NOT_FETCH,
    isValid: true,
  },
  'a head of 63 KB': {
    answer: withHeader(`A: ${'x'.repeat(63_000)}`),
    takenBy: NOT_FETCH,
    isValid: true,
  },
  'a head of 100 KB': { answer: withHeader(`A: ${'x'.repeat(100_000)}`), takenBy: ['curl'] },
  'a body that stalls': { answer: `${OK}Content-Length: 20\r\n\r\nok`, takenBy: ALL },
  'a body without an end that stalls': { answer: `${OK}\r\nok`, takenBy: ALL },
  'a body that is cut': { answer: `${OK}Content-Length: 20\r\n\r\nok`, takenBy: ALL, ends: true },
  'an invalid chunk size': { answer: `${CHUNKED}zz\r\nok\r\n0\r\n\r\n`, takenBy: ALL },
  'a chunk without a size': { answer: `${CHUNKED};a\r\n`, takenBy: ALL },
  'a chunk longer than its size': { answer: `${CHUNKED}1\r\nab\r\n`, takenBy: ALL },
  'no last chunk': { answer: `${CHUNKED}2\r\nok\r\n`, takenBy: ALL, ends: true },
  'a connection that ends after its status line': { answer: OK, takenBy: NOT_FETCH, ends: true },
  'a connection that ends after a header': {
    answer: `${OK}A: b\r\n`,
    takenBy: NOT_FETCH,
    ends: true,
  },
};

/** A receiver that answers each request with these bytes. */
const receiverOf = ({ answer, ends }: Row) =>
  rawReceiver((socket) => {
    socket.write(answer, 'latin1');
    if (ends) socket.end();
  });

describe.each(Object.entries(ROWS))('an answer with %s', (_, row) => {
  const { takenBy, isValid = false } = row;
  /** Blank lines before an answer are of no harm, though only fetch takes them. */
  const isTaken = takenBy.length >= 2 || row.answer.startsWith('\r\n');

  test(`is ${isTaken ? 'a success' : 'a failure'}, and its connection ${isValid ? 'is kept' : 'closes'}`, async () => {
    const { url, sockets } = await receiverOf(row);
    const out = egress();
    for (const connections of [1, isValid ? 1 : 2]) {
      const outcome = await out.post({ ...post, destinationUrl: url });
      expect(outcome).toMatchObject(
        isTaken ? { kind: 'answered', status: 200 } : { kind: 'failed' },
      );
      expect(sockets).toHaveLength(connections);
    }
  });

  test(`is ${takenBy.includes('fetch') ? '' : 'not '}taken by fetch`, async () => {
    const { url } = await receiverOf(row);
    const request = fetch(url, { method: 'POST', body: post.body });
    if (takenBy.includes('fetch')) expect(await request).toMatchObject({ status: 200 });
    else await expect(request).rejects.toThrow();
  });
});
