/** For the tests: what hostile receivers answer. Each answer goes on until the connection is closed. */
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { Outcome } from '../egress/exchange.ts';
import { SESSION_TICKETS, type TlsRecords } from './test-tls-records.ts';

/** The connection of a receiver. */
export interface Peer {
  /** Bytes written here are encrypted when the connection uses TLS. */
  readonly stream: Duplex;
  /** Writes TLS records that Node's own server would not send. */
  readonly records?: TlsRecords;
}

export interface HostileAnswer {
  /** One of several where it depends on how many bytes a read of the socket brings. */
  readonly outcome: Outcome | readonly Outcome[];
  /** The receiver answers when a request comes, or as soon as the connection is accepted. */
  readonly at?: 'request' | 'connection';
  /** How many certificates the receiver sends in the TLS handshake. */
  readonly certificates?: number;
  /** What it may cost more than an ordinary answer, in exchanges by TLS; 2 when left out. */
  readonly maxTlsExchanges?: number;
  readonly send: (peer: Peer) => void;
}

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const COMPLETE = `${OK}content-length: 2\r\n\r\nok`;
const BLOCK_BYTES = 16_384;

const answered: Outcome = { kind: 'answered', status: 200 };
const failed = (reason: string): Outcome => ({ kind: 'failed', reason });

/** Sends `start` once, and then `repeated` without end. */
function endless(start: string, repeated: string | Buffer): HostileAnswer['send'] {
  const unit = Buffer.from(repeated);
  const times = Math.ceil(BLOCK_BYTES / unit.length);
  const block = Buffer.concat(Array.from({ length: times }, () => unit));
  return ({ stream }) => {
    stream.write(start);
    const pour = (error?: Error | null) => {
      // The callback of a failed write comes before the stream is destroyed.
      if (error == null && !stream.destroyed) stream.write(block, pour);
    };
    pour();
  };
}

/** Sends `start` once, and then `repeated` without end, a byte at a time: each is a TCP segment or TLS record. */
function byteByByte(start: string, repeated: string, pause: (next: () => void) => void) {
  return ({ stream }: Peer) => {
    stream.write(start);
    let at = 0;
    const next = () => {
      if (stream.destroyed) return;
      stream.write(repeated[at % repeated.length]);
      at += 1;
      pause(next);
    };
    // The client has read the start before the first byte comes.
    setTimeout(next, 10);
  };
}

const atOnce = (next: () => void) => void setImmediate(next);
const everyMs = (next: () => void) => void setTimeout(next, 1);
const whole =
  (text: string): HostileAnswer['send'] =>
  ({ stream }) =>
    void stream.write(text);
const wholeAndEnd =
  (text: string): HostileAnswer['send'] =>
  ({ stream }) =>
    void stream.end(text);

export const ORDINARY_ANSWER: HostileAnswer = { outcome: answered, send: whole(COMPLETE) };

/** By name. */
export const HTTP_ANSWERS: Readonly<Record<string, HostileAnswer>> = {
  'endless 103 answers': {
    outcome: failed('too_many_interim_answers'),
    send: endless('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  },
  'endless 100 answers': {
    outcome: failed('too_many_interim_answers'),
    send: endless('', 'HTTP/1.1 100 Continue\r\n\r\n'),
  },
  'interim answers with a header each': {
    outcome: failed('too_many_interim_answers'),
    send: endless('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
  },
  'an endless reason phrase': {
    outcome: failed('answer_too_large'),
    send: endless('HTTP/1.1 200 ', 'x'),
  },
  'endless blank lines before the status line': {
    outcome: failed('answer_malformed'),
    send: endless('', '\r\n'),
  },
  'an endless header name': { outcome: failed('answer_too_large'), send: endless(OK, 'x') },
  'an endless header value': {
    outcome: failed('answer_too_large'),
    send: endless(`${OK}a: `, 'x'),
  },
  'endless tiny headers': { outcome: failed('too_many_headers'), send: endless(OK, 'a:\r\n') },
  '8,000 tiny headers and a body': {
    outcome: failed('too_many_headers'),
    send: whole(`${OK}${'a:\r\n'.repeat(8_000)}content-length: 2\r\n\r\nok`),
  },
  'endless folded header lines': {
    outcome: failed('answer_malformed'),
    send: endless(`${OK}a: b\r\n`, ' c\r\n'),
  },
  'an endless chunk extension': {
    outcome: answered,
    send: endless(`${CHUNKED}2;`, 'x'),
  },
  'a chunk extension on every chunk': {
    outcome: answered,
    send: endless(CHUNKED, `1;${'x'.repeat(500)}\r\na\r\n`),
  },
  'an endless zero-padded chunk size': { outcome: answered, send: endless(CHUNKED, '0') },
  'zero-padded sizes of one-byte chunks': {
    outcome: answered,
    send: endless(CHUNKED, '000000000000001\r\na\r\n'),
  },
  'endless one-byte chunks': { outcome: answered, send: endless(CHUNKED, '1\r\na\r\n') },
  'an invalid chunk size': {
    outcome: answered,
    send: endless(CHUNKED, 'z'),
  },
  'endless tiny trailers': { outcome: answered, send: endless(`${CHUNKED}0\r\n`, 'a:\r\n') },
  '4,000 tiny trailers': {
    outcome: answered,
    send: whole(`${CHUNKED}0\r\n${'a:\r\n'.repeat(4_000)}\r\n`),
  },
  'an endless body': { outcome: answered, send: endless(`${OK}\r\n`, 'x') },
  'a body longer than any number': {
    outcome: answered,
    send: endless(`${OK}content-length: ${'9'.repeat(30)}\r\n\r\n`, 'x'),
  },
  'a body of negative length': {
    outcome: failed('answer_malformed'),
    send: endless(`${OK}content-length: -1\r\n\r\n`, 'x'),
  },
  'Content-Length and Transfer-Encoding': {
    outcome: answered,
    send: endless(`${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`, '1\r\na\r\n'),
  },
  'a gzip bomb': {
    outcome: answered,
    send: endless(
      `${OK}content-encoding: gzip\r\ncontent-length: 10000000\r\n\r\n`,
      gzipSync(Buffer.alloc(64 * 1_024 * 1_024)),
    ),
  },
  'endless complete answers': { outcome: answered, send: endless('', COMPLETE) },
  'a complete answer with Connection: close, and endless bytes after it': {
    outcome: answered,
    send: endless(`${OK}connection: close\r\ncontent-length: 2\r\n\r\nok`, 'x'),
  },
  'an upgrade to another protocol': {
    outcome: failed('answer_malformed'),
    send: endless('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 'x'),
  },
  'a Retry-After of a million digits': {
    outcome: failed('answer_too_large'),
    send: endless('HTTP/1.1 503 Busy\r\nretry-after: ', '9'),
  },
  'a Retry-After that begins like a date': {
    outcome: { kind: 'answered', status: 503 },
    send: whole(
      `HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nretry-after: Mon${'(1 '.repeat(5_000)}\r\n\r\n`,
    ),
  },
  'endless NUL bytes': { outcome: failed('answer_too_large'), send: endless('', '\0') },
  'an answer of HTTP/0.9': {
    outcome: failed('answer_malformed'),
    send: endless('', '<html>\r\n'),
  },
  'a head byte by byte': {
    outcome: failed('answer_too_fragmented'),
    send: byteByByte('', 'x', atOnce),
  },
  'a body byte by byte': {
    outcome: answered,
    send: byteByByte(`${OK}\r\n`, 'x', atOnce),
  },
  'chunks byte by byte': {
    outcome: answered,
    send: byteByByte(CHUNKED, '1\r\na\r\n', atOnce),
  },
  'a byte of a head every millisecond': {
    outcome: failed('answer_too_fragmented'),
    send: byteByByte(`${OK}a: `, 'x', everyMs),
  },
  'an endless answer before the request': {
    outcome: failed('answer_malformed'),
    at: 'connection',
    send: endless('220 mail.example.com ESMTP\r\n', 'x'),
  },
  'a connection that is closed when it is accepted': {
    outcome: failed('connection_closed'),
    at: 'connection',
    send: wholeAndEnd(''),
  },
  'a connection that is closed within the head': {
    outcome: failed('connection_closed'),
    send: wholeAndEnd(`${OK}content-le`),
  },
  'bytes on an idle connection': {
    outcome: answered,
    send: (peer) => {
      peer.stream.write(COMPLETE);
      setTimeout(() => endless('', COMPLETE)(peer), 2);
    },
  },
};

/** By name. */
export const TLS_ANSWERS: Readonly<Record<string, HostileAnswer>> = {
  'by TLS, an endless body': { outcome: answered, send: endless(`${OK}\r\n`, 'x') },
  'by TLS, endless one-byte chunks': { outcome: answered, send: endless(CHUNKED, '1\r\na\r\n') },
  'by TLS, endless 103 answers': {
    outcome: [failed('too_many_interim_answers'), failed('answer_too_large')],
    send: endless('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  },
  'by TLS, a body byte by byte': {
    outcome: answered,
    send: byteByByte(`${OK}\r\n`, 'x', atOnce),
  },
  'by TLS, endless records of one byte': {
    outcome: failed('answer_too_fragmented'),
    send: ({ records }) => records?.flood({ type: 'data', content: Buffer.from('x') }),
  },
  'by TLS, endless records without data': {
    outcome: failed('answer_too_fragmented'),
    send: ({ records }) => records?.flood({ type: 'data', content: Buffer.alloc(0) }),
  },
  'by TLS, 2,000 key updates': {
    outcome: failed('answer_too_fragmented'),
    send: ({ records }) => records?.sendKeyUpdates(2_000),
  },
  'by TLS, endless session tickets': {
    outcome: failed('answer_too_large'),
    // OpenSSL decrypts a record of 16 KiB at once, and such a record holds 800 tickets of 9 µs of CPU each.
    maxTlsExchanges: 4,
    send: ({ records }) => records?.flood({ type: 'handshake', content: SESSION_TICKETS }),
  },
  'by TLS, 90 KB of certificates': {
    outcome: failed('handshake_too_large'),
    certificates: 150,
    send: () => {},
  },
  'an endless answer without TLS instead of a handshake': {
    outcome: [failed('handshake_too_large'), failed('tls_not_spoken')],
    at: 'connection',
    send: endless(`${OK}\r\n`, 'x'),
  },
};
