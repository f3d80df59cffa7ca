/** The bytes between this process and a receiver, in the clear or by TLS, reported in small pieces as they arrive. */
import { readSync } from 'node:fs';
import { isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import { TlsRecordCounter } from './tls-record-counter.ts';

export interface TransportEvents {
  /** Bytes may be written from now on. */
  onOpen(): void;
  /**
   * Bytes came from the network, in which so many TLS records begin. Called before the bytes are
   * decrypted, and not at all after `destroy`.
   */
  onArrival(bytes: number, records: number): void;
  /** Bytes of answers, which are valid during the call. */
  onData(bytes: Buffer): void;
  /** Called once, last. `error` is undefined when the receiver closed the connection. */
  onClose(error: Error | undefined): void;
}

export interface Transport {
  write(text: string): void;
  /** False when the connection is ending. */
  readonly isWritable: boolean;
  /** Whether written bytes wait because the receiver does not read. */
  readonly isWriting: boolean;
  /** Whether bytes, or the end of the connection, have come that this process has not read yet. */
  hasUnread(): boolean;
  /** The TLS session, which a later connection can continue with half of the handshake's CPU. */
  session(): TlsSession | undefined;
  destroy(): void;
}

/** A TLS session, by which a receiver is trusted without showing its certificate again. */
export interface TlsSession {
  readonly ticket: Buffer;
  /** Milliseconds since the epoch: the end of the certificate or of `MAX_SESSION_MS`. */
  readonly endsAtMs: number;
}

export interface TlsOptions {
  readonly hostname: string;
  readonly session: TlsSession | undefined;
  /** With the authorities that are trusted; without it those of Node. */
  readonly context?: SecureContext | null | undefined;
}

/**
 * Node checks neither the certificate nor its name when a session is continued, and each continued session
 * has new tickets. This is how long a certificate is trusted without being seen.
 */
const MAX_SESSION_MS = 3_600_000;

/**
 * The most bytes that are read or decrypted between two checks of the limits. 4 KiB are 150 of the smallest
 * TLS records, which cost up to 8 µs of CPU each.
 */
const PIECE_BYTES = 4_096;

export function clearTransport(tcp: Socket, events: TransportEvents): Transport {
  let failure: Error | undefined;
  const report = (piece: Buffer) => events.onArrival(piece.length, 0);
  tcp
    .on('connect', () => {
      if (!tcp.destroyed) events.onOpen();
    })
    .on('data', (chunk) => forwardPieces(tcp, chunk, report, (piece) => events.onData(piece)))
    .on('error', (error) => {
      failure = error;
    })
    .on('close', () => events.onClose(failure));
  return {
    write: (text) => void tcp.write(text),
    get isWritable() {
      return tcp.writable;
    },
    get isWriting() {
      return tcp.writableLength > 0;
    },
    hasUnread: () => hasUnread(tcp),
    session: () => undefined,
    destroy: () => void tcp.destroy(),
  };
}

/**
 * TLS whose encrypted bytes pass through this module. Node would join the two sockets outside of
 * JavaScript, where a receiver that sends only records without data cannot be stopped: one turn of the
 * event loop reads up to 512 KiB, which are 19,000 key updates of 6 µs of CPU each. Measured per exchange
 * on a kept connection: 22 µs of CPU joined by Node, 27 µs this way.
 */
export function tlsTransport(
  tcp: Socket,
  { hostname, session, context }: TlsOptions,
  events: TransportEvents,
): Transport {
  let tls: TLSSocket | undefined;
  let failure: Error | undefined;
  const fail = (error: Error) => {
    failure ??= error;
    tcp.destroy();
  };
  const tunnel = new Tunnel(tcp);
  const records = new TlsRecordCounter();
  const report = (piece: Buffer) => events.onArrival(piece.length, records.count(piece));
  tcp
    .on('connect', () => {
      if (tcp.destroyed) return;
      tls = connectTls({
        socket: tunnel,
        host: hostname,
        // A server name is never an address (RFC 6066, 3).
        ...(isIP(hostname) === 0 && { servername: hostname }),
        ...(session && { session: session.ticket }),
        ...(context && { secureContext: context }),
        // Also when NODE_TLS_REJECT_UNAUTHORIZED is 0.
        rejectUnauthorized: true,
        ALPNProtocols: ['http/1.1'],
      })
        .on('secureConnect', () => events.onOpen())
        .on('data', (chunk) => {
          if (!tcp.destroyed) events.onData(chunk);
        })
        .on('end', () => tcp.destroy())
        .on('error', fail);
    })
    .on('data', (chunk) => forwardPieces(tcp, chunk, report, (piece) => tunnel.push(piece)))
    .on('end', () => tunnel.push(null))
    .on('error', fail)
    .on('close', () => {
      tls?.destroy();
      tunnel.destroy();
      events.onClose(failure);
    });
  return {
    write: (text) => void tls?.write(text),
    get isWritable() {
      return tcp.writable && tls?.writable === true;
    },
    get isWriting() {
      return tcp.writableLength > 0;
    },
    hasUnread: () => hasUnread(tcp),
    session: () => tls && sessionOf(tls, session),
    destroy: () => void tcp.destroy(),
  };
}

/** The session of a connection that may itself have continued one: the end is that of the first. */
function sessionOf(tls: TLSSocket, continued: TlsSession | undefined): TlsSession | undefined {
  // The event 'session' would cost 20 µs of CPU for every session ticket that a receiver sends.
  const ticket = tls.getSession();
  if (ticket === undefined) return undefined;
  if (continued !== undefined && tls.isSessionReused()) return { ...continued, ticket };
  const certificateEndsMs = tls.getPeerX509Certificate()?.validToDate.getTime() ?? 0;
  return { ticket, endsAtMs: Math.min(certificateEndsMs, Date.now() + MAX_SESSION_MS) };
}

const PROBE = Buffer.alloc(1);

/**
 * Asks the system, by reading a byte, which is lost: call it only when the connection is closed if there is one.
 * Node reads a socket in a phase of its event loop that is over when a request is written. Costs 4 µs of CPU, and would
 * cost 10 µs if the error by which `readSync` says that there is nothing to read had a stack.
 */
function hasUnread(tcp: Socket): boolean {
  const { _handle: handle } = tcp as Socket & { _handle?: { fd?: number } | null };
  // Windows has no descriptor.
  if (handle?.fd === undefined || handle.fd < 0) return false;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    readSync(handle.fd, PROBE, 0, 1, null);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Reports and forwards what came from the network, until a listener closes the connection. */
function forwardPieces(
  tcp: Socket,
  chunk: Buffer,
  report: (piece: Buffer) => void,
  forward: (piece: Buffer) => void,
): void {
  for (let at = 0; at < chunk.length && !tcp.destroyed; at += PIECE_BYTES) {
    const piece = chunk.subarray(at, at + PIECE_BYTES);
    report(piece);
    if (!tcp.destroyed) forward(piece);
  }
}

/** Hands the encrypted bytes of TLS to the TCP socket. The other direction is pushed by `tlsTransport`. */
class Tunnel extends Duplex {
  readonly #tcp: Socket;

  constructor(tcp: Socket) {
    super();
    this.#tcp = tcp;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void) {
    this.#tcp.write(chunk, done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#tcp.destroy();
    done(error);
  }
}
