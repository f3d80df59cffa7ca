/** For the tests: a bureau on a real port whose every byte is scripted, and a wire format for it. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import { onTestFinished, vi } from 'vitest';
import type { BureauFormat, RefusalReason } from '../bureau.ts';
import { BureauClient, type BureauClientOptions, type PendingInquiry } from './bureau-client.ts';
import type { InquiryOutcome, Withdrawn } from './inquiry-outcome.ts';

/** What the bureau does with the connection when a request is there. */
export type Script = (socket: Socket, request: string) => void;

export interface ScriptedBureau {
  url: string;
  port: number;
  /** The inquiries that were read in whole. */
  inquiries: string[];
  /** The token requests that were read in whole. */
  tokenRequests: string[];
  /** The open connections, and how many there were. */
  sockets: Set<Socket>;
  connections: number;
}

export interface ScriptedBureauOptions {
  /** Answers to inquiries: the first to the first, and the last to all further ones. */
  inquiry?: Script[];
  token?: Script[];
  /** Called when a connection is accepted. */
  onConnection?: (socket: Socket) => void;
  /** Called with the first bytes of a connection. */
  onFirstBytes?: (socket: Socket) => void;
  tls?: TlsOptions;
}

/** Starts a bureau that stops when the test ends. */
export async function startScriptedBureau({
  inquiry = [answer(FILE)],
  token = [],
  onConnection,
  onFirstBytes,
  tls,
}: ScriptedBureauOptions): Promise<ScriptedBureau> {
  const bureau: ScriptedBureau = {
    url: '',
    port: 0,
    inquiries: [],
    tokenRequests: [],
    sockets: new Set(),
    connections: 0,
  };
  const serve = (socket: Socket) => {
    bureau.connections += 1;
    bureau.sockets.add(socket);
    socket.on('error', () => {}).on('close', () => bureau.sockets.delete(socket));
    onConnection?.(socket);
    if (onFirstBytes) socket.once('data', () => onFirstBytes(socket));
    readRequests(socket, (request) => {
      const [seen, scripts] = request.startsWith('POST /token')
        ? [bureau.tokenRequests, token]
        : [bureau.inquiries, inquiry];
      seen.push(request);
      scripts[Math.min(seen.length, scripts.length) - 1]?.(socket, request);
    });
  };
  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of bureau.sockets) socket.destroy();
    server.close();
  });
  bureau.port = (server.address() as AddressInfo).port;
  bureau.url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${bureau.port}`;
  return bureau;
}

function readRequests(socket: Socket, onRequest: (request: string) => void): void {
  let unread = '';
  socket.on('data', (chunk) => {
    unread += chunk.toString('latin1');
    for (;;) {
      const headEnd = unread.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(unread)?.[1]);
      if (headEnd === -1 || unread.length < headEnd + 4 + length) return;
      const request = unread.slice(0, headEnd + 4 + length);
      unread = unread.slice(request.length);
      onRequest(request);
    }
  });
}

export const FILE = '<file/>';

/** A whole answer. */
export function answer(body: string | Buffer, status = 200, headers: string[] = []): Script {
  return (socket) => {
    const head = [`HTTP/1.1 ${status} X`, `content-length: ${Buffer.byteLength(body)}`, ...headers];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.write(body);
  };
}

/** Bytes, and then nothing more. */
export function bytes(text: string): Script {
  return (socket) => void socket.write(text);
}

/** Bytes, and then the end of the connection: in order, or by a reset. */
export function bytesThen(text: string, end: 'close' | 'reset'): Script {
  return (socket) => {
    const finish = () => void (end === 'close' ? socket.end() : socket.resetAndDestroy());
    if (text === '') return finish();
    // After a pause: a reset discards what the other side has not read yet.
    socket.write(text, () => setImmediate(() => setImmediate(finish)));
  };
}

export interface TestCredentials {
  baseUrl: string;
  clientSecret?: string;
}

/** Answers `<file/>` and `<error>reason</error>`; everything else is malformed. */
export const testFormat: BureauFormat<TestCredentials> = {
  source: 'EQUIFAX',
  makeTokenRequest: ({ baseUrl, clientSecret }) =>
    clientSecret === undefined
      ? undefined
      : {
          url: `${baseUrl}/token`,
          headers: { authorization: `Basic ${clientSecret}` },
          body: 'grant_type=client_credentials',
        },
  makeRequest: ({ reference }, { baseUrl }, token) => ({
    url: `${baseUrl}/inquiry`,
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body: `<inquiry>${reference}</inquiry>`,
  }),
  readRoot({ name, text }) {
    if (name === 'file') return { kind: 'file', file: {}, unknownCodes: [] };
    if (name !== 'error') return { kind: 'malformed', problem: 'no test answer' };
    return { kind: 'refused', reason: text as RefusalReason, code: 'E1' };
  },
};

export const LOCAL = { allowHttp: true, allowLoopback: true, ports: [443], hosts: [] };

/** A client of scripted bureaus, and its metrics. */
export function openTestClient(options: Partial<BureauClientOptions<TestCredentials>> = {}) {
  const metrics = new Metrics();
  const client = new BureauClient({
    failuresToOpen: 5,
    format: testFormat,
    hostRules: LOCAL,
    deadlineMs: 20_000,
    maxConnections: 4,
    log: silentLog,
    metrics,
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, metrics };
}

export function inquiryOf(
  reference = 'a-pull',
  nowMs: () => number = () => performance.now(),
): PendingInquiry<never> {
  const subject = { firstName: 'A', lastName: 'B', dateOfBirth: '1980-01-01', addresses: [] };
  const prepare = async () => ({ inquiry: { reference, subject }, markedMs: nowMs() });
  return { reference, prepare };
}

/** The outcome in one word. */
export function wordOf(outcome: InquiryOutcome | Withdrawn<never>) {
  if (outcome.kind === 'withdrawn') return outcome.kind;
  if (outcome.kind !== 'answered') return outcome.reason;
  return outcome.answer.kind === 'refused' ? outcome.answer.reason : outcome.answer.kind;
}

/** From now on, time passes only by `vi.advanceTimersByTime`. Sockets go on. */
export function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}
