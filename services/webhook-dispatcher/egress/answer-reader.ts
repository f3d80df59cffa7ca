/** Reads one HTTP/1.1 answer to a POST, with a limit on everything about it that the receiver decides. */
import { hexDigit } from '@creditlane/runtime/hex-digit';
import { AnswerHead } from './answer-head.ts';
import type { KeptAnswerBytes, Outcome } from './exchange.ts';

/** Of the body, without its framing. */
const MAX_BODY_BYTES = 64 * 1_024;
/** Of all heads and trailers together. */
const MAX_HEAD_BYTES = 16 * 1_024;
/** In all heads and trailers together. */
const MAX_HEADERS = 64;
/** 1xx answers, which come before the final one. */
const MAX_INTERIM_ANSWERS = 4;
/** Of a chunk's size, leading zeros included. */
const MAX_CHUNK_SIZE_DIGITS = 16;

const LF = 0x0a;
const CR = 0x0d;
/** The bytes that may follow a chunk's size. */
const CHUNK_SIZE_ENDS = new Set([CR, 0x09, 0x20, 0x3b]);
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what is looked for.
const CONTROL_CHARACTER = /[\x00-\x08\x0a-\x1f\x7f]/;

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

  /** Reads the next bytes; `undefined` while the answer is incomplete. */
  read(bytes: Buffer): AnswerEnd | undefined {
    try {
      let at = 0;
      while (at < bytes.length && this.#part !== 'ended') at = this.#readPart(bytes, at);
      if (this.#part !== 'ended') return undefined;
      // Bytes after the answer belong to no request, so the connection carries none after them.
      return this.#end(at === bytes.length);
    } catch (error) {
      if (error instanceof LimitExceeded) return this.cut(error.reason);
      if (error instanceof MalformedAnswer) return failed('answer_malformed');
      throw error;
    }
  }

  /**
   * The answer exceeds the limit that `reason` names. After a complete head its status is the outcome: the receiver has
   * answered, and only the rest is too long. An answer that the receiver or the deadline cuts off is a failure instead, and
   * the delivery is retried.
   */
  cut(reason: string): AnswerEnd {
    return this.#outcome === undefined ? failed(reason) : this.#end(false);
  }

  /** The end of the answer when the connection ends; `undefined` when the answer is then incomplete. */
  endWithConnection(): AnswerEnd | undefined {
    return this.#part === 'rest' ? this.#end(false) : undefined;
  }

  #end(isReusable: boolean): AnswerEnd {
    const outcome = this.#outcome ?? { kind: 'failed', reason: 'no_answer' };
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
    if (CONTROL_CHARACTER.test(line)) throw new MalformedAnswer();
    this.#takeLine(line);
    return end + 1;
  }

  #takeLine(line: string): void {
    if (this.#part === 'status_line') {
      this.#head = AnswerHead.startingWith(line);
      if (this.#head === undefined) throw new MalformedAnswer();
      this.#part = 'headers';
    } else if (line === '') {
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
    const bodyEnd = head?.bodyEnd();
    // No request asks for another protocol, so 101 is no answer to it.
    if (head === undefined || bodyEnd === undefined || head.status === 101) {
      throw new MalformedAnswer();
    }
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
    this.#isChunked = bodyEnd.kind === 'after_last_chunk';
    if (bodyEnd.kind === 'after_bytes') {
      this.#remainingBytes = bodyEnd.bytes;
      this.#part = bodyEnd.bytes === 0 ? 'ended' : 'data';
    } else this.#part = this.#isChunked ? 'chunk_size' : 'rest';
  }
}

function failed(reason: string): AnswerEnd {
  return { outcome: { kind: 'failed', reason }, keepAliveMs: 0 };
}
