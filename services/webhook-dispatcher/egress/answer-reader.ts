/** Reads one HTTP/1.1 answer to a POST, with a limit on everything about it that the receiver decides. */
import { hexDigit } from '@creditlane/runtime/hex-digit';
import { AnswerHead } from './answer-head.ts';
import type { KeptAnswerBytes, Outcome } from './exchange.ts';

/** Of the body, without its framing. */
const MAX_BODY_BYTES = 64 * 1_024;
/** Of all heads and trailers together. */
const MAX_HEAD_BYTES = 64 * 1_024;
/** In all heads and trailers together. */
const MAX_HEADERS = 1_000;
/** 1xx answers, which come before the final one. */
const MAX_INTERIM_ANSWERS = 64;
/** Before a status line. */
const MAX_BLANK_LINES = 4;
/** Of a chunk's size, leading zeros included. */
const MAX_CHUNK_SIZE_DIGITS = 16;

const LF = 0x0a;
const CR = 0x0d;
/** The bytes that may follow a chunk's size. */
const CHUNK_SIZE_ENDS = new Set([CR, 0x09, 0x20, 0x3b]);

const LINE_END = Buffer.from('\n');
const MALFORMED = 'answer_malformed';

/** How an answer ended. */
export interface AnswerEnd {
  readonly outcome: Outcome;
  /** How long the connection may wait for another request; 0 when the connection is to be closed. */
  readonly keepAliveMs: number;
}

/** What comes next. 'data' is a body of known length, or one chunk; 'rest' is a body that ends with the connection. */
type Part =
  | 'status_line'
  | 'headers'
  | 'data'
  | 'rest'
  | 'chunk_size'
  | 'chunk_extension'
  | 'chunk_end'
  | 'trailers'
  | 'ended';

class MalformedAnswer extends Error {
  override name = 'MalformedAnswer';
}

class LimitExceeded extends Error {
  override name = 'LimitExceeded';
  /** A stable word. */
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** The body is read to its end, after which the connection can carry another request; its first `keptBytes` are kept. */
export class AnswerReader {
  readonly #keptBytes: KeptAnswerBytes | undefined;
  /** The beginning of the body; undefined while nothing is kept. */
  #kept: Buffer | undefined;
  #keptLength = 0;
  #part: Part = 'status_line';
  /** The beginning of a line whose end has not come. */
  #line = '';
  #headBytes = 0;
  #bodyBytes = 0;
  #headers = 0;
  #interimAnswers = 0;
  /** Before status lines. */
  #blankLines = 0;
  #head: AnswerHead | undefined;
  /** Set once the final head is complete. */
  #outcome: Outcome | undefined;
  #isChunked = false;
  /** What is left of the body or the chunk. */
  #remainingBytes = 0;
  #chunkSizeDigits = 0;

  constructor(keptBytes?: KeptAnswerBytes) {
    this.#keptBytes = keptBytes;
  }

  /** Whether the final head is complete: its status is the outcome, whatever follows. */
  get hasStatus(): boolean {
    return this.#outcome !== undefined;
  }

  /** Reads the next bytes; `undefined` while the answer is incomplete. */
  read(bytes: Buffer): AnswerEnd | undefined {
    try {
      let at = 0;
      while (at < bytes.length && this.#part !== 'ended') at = this.#readPart(bytes, at);
      if (this.#part !== 'ended') return undefined;
      // Bytes after the answer belong to no request, so the connection carries none after them.
      return this.#end(at === bytes.length, MALFORMED);
    } catch (error) {
      if (error instanceof MalformedAnswer) return this.cut(MALFORMED);
      if (error instanceof LimitExceeded) {
        return this.cut(this.#head?.isMalformed ? MALFORMED : error.reason);
      }
      throw error;
    }
  }

  /**
   * Nothing more of the answer is read: it exceeds a limit, its connection has ended, or time is up, as `reason` says. After a
   * complete head its status is the outcome: the receiver has answered. Before, the exchange fails for the reason.
   */
  cut(reason: string): AnswerEnd {
    return this.#end(false, reason);
  }

  /** The receiver has ended the connection. That ends a head, too, after a whole line. */
  endWithConnection(): AnswerEnd {
    const isInHead = this.#part === 'headers' && this.#line === '';
    return (isInHead ? this.read(LINE_END) : undefined) ?? this.cut('connection_closed');
  }

  #end(isReusable: boolean, reason: string): AnswerEnd {
    const outcome = this.#outcome ?? { kind: 'failed', reason };
    const hasBody = outcome.kind === 'answered' && this.#keptLength > 0;
    return {
      outcome: hasBody ? { ...outcome, bodyStart: this.#bodyStart() } : outcome,
      keepAliveMs: isReusable ? (this.#head?.keepAliveMs() ?? 0) : 0,
    };
  }

  /** As text in UTF-8, without a last character that is not whole. Other bytes become U+FFFD. */
  #bodyStart(): string {
    const bytes = this.#kept?.subarray(0, this.#keptLength);
    return new TextDecoder().decode(bytes, { stream: true });
  }

  /** Reads bytes of one part from `at`, and returns where the next part begins. */
  #readPart(bytes: Buffer, at: number): number {
    switch (this.#part) {
      case 'data':
        return this.#readData(bytes, at);
      case 'rest':
        this.#takeBody(bytes.subarray(at));
        return bytes.length;
      case 'chunk_size':
        this.#readChunkSize(bytes[at] ?? 0);
        return at + 1;
      case 'chunk_extension': {
        const end = bytes.indexOf(LF, at);
        if (end === -1) return bytes.length;
        this.#startChunk();
        return end + 1;
      }
      case 'chunk_end':
        if (bytes[at] === LF) this.#part = 'chunk_size';
        else if (bytes[at] !== CR) throw new MalformedAnswer();
        return at + 1;
      default:
        return this.#readLine(bytes, at);
    }
  }

  #readData(bytes: Buffer, at: number): number {
    const count = Math.min(this.#remainingBytes, bytes.length - at);
    this.#takeBody(bytes.subarray(at, at + count));
    this.#remainingBytes -= count;
    if (this.#remainingBytes === 0) this.#part = this.#isChunked ? 'chunk_end' : 'ended';
    return at + count;
  }

  #takeBody(bytes: Buffer): void {
    if (this.#kept !== undefined && this.#keptLength < this.#kept.length) {
      this.#keptLength += bytes.copy(this.#kept, this.#keptLength);
    }
    this.#bodyBytes += bytes.length;
    if (this.#bodyBytes > MAX_BODY_BYTES) throw new LimitExceeded('answer_too_large');
  }

  #readChunkSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== undefined) {
      this.#chunkSizeDigits += 1;
      if (this.#chunkSizeDigits > MAX_CHUNK_SIZE_DIGITS)
        throw new LimitExceeded('answer_too_large');
      this.#remainingBytes = this.#remainingBytes * 16 + digit;
    } else if (this.#chunkSizeDigits === 0) throw new MalformedAnswer();
    else if (byte === LF) this.#startChunk();
    else if (CHUNK_SIZE_ENDS.has(byte)) this.#part = 'chunk_extension';
    else throw new MalformedAnswer();
  }

  #startChunk(): void {
    this.#part = this.#remainingBytes === 0 ? 'trailers' : 'data';
    this.#chunkSizeDigits = 0;
  }

  #readLine(bytes: Buffer, at: number): number {
    const lineFeed = bytes.indexOf(LF, at);
    const end = lineFeed === -1 ? bytes.length : lineFeed;
    this.#headBytes += end - at + 1;
    if (this.#headBytes > MAX_HEAD_BYTES) throw new LimitExceeded('answer_too_large');
    this.#line += bytes.toString('latin1', at, end);
    if (lineFeed === -1) return end;
    const line = this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line;
    this.#line = '';
    this.#takeLine(line);
    return end + 1;
  }

  #takeLine(line: string): void {
    if (this.#part === 'status_line') {
      if (line === '' && this.#blankLines < MAX_BLANK_LINES) {
        this.#blankLines += 1;
        return;
      }
      this.#head = AnswerHead.startingWith(line, this.#blankLines > 0);
      if (this.#head === undefined) throw new MalformedAnswer();
      this.#part = 'headers';
    } else if (line === '' || line === '\r') {
      if (this.#part === 'trailers') this.#part = 'ended';
      else this.#finishHead();
    } else {
      this.#headers += 1;
      if (this.#headers > MAX_HEADERS) throw new LimitExceeded('too_many_headers');
      if (this.#part === 'headers' && !this.#head?.add(line)) throw new MalformedAnswer();
    }
  }

  #finishHead(): void {
    const head = this.#head;
    // No request asks for another protocol, so 101 is no answer to it.
    if (head === undefined || head.status === 101) throw new MalformedAnswer();
    if (head.status < 200) {
      this.#interimAnswers += 1;
      if (this.#interimAnswers > MAX_INTERIM_ANSWERS) {
        throw new LimitExceeded('too_many_interim_answers');
      }
      this.#part = 'status_line';
      return;
    }
    this.#outcome = head.outcome();
    const keptBytes = this.#keptBytes?.(head.status) ?? 0;
    if (keptBytes > 0) this.#kept = Buffer.alloc(keptBytes);
    const bodyEnd = head.bodyEnd();
    this.#isChunked = bodyEnd.kind === 'after_last_chunk';
    if (bodyEnd.kind === 'after_bytes') {
      this.#remainingBytes = bodyEnd.bytes;
      this.#part = bodyEnd.bytes === 0 ? 'ended' : 'data';
    } else if (bodyEnd.kind === 'unknown') this.#part = 'ended';
    else this.#part = this.#isChunked ? 'chunk_size' : 'rest';
  }
}
