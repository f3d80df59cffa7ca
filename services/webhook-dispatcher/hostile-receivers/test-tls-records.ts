/** For the tests: encrypts any TLS 1.3 records of a server in the middle of a session (RFC 8446). */
import { createCipheriv, createHmac } from 'node:crypto';
import type { Duplex } from 'node:stream';

/** Records are encrypted with it. */
export const CIPHER_SUITE = 'TLS_AES_128_GCM_SHA256';

const CONTENT_TYPES = { handshake: 22, data: 23 } as const;
/** A KeyUpdate message that asks for none in return. */
const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 0]);
/** A NewSessionTicket message with a ticket of one byte. */
const SESSION_TICKET = Buffer.from([4, 0, 0, 15, 0, 0, 14, 16, 0, 0, 0, 1, 1, 7, 0, 1, 9, 0, 0]);
/** As many as fit into one record. */
export const SESSION_TICKETS = Buffer.concat(Array.from({ length: 800 }, () => SESSION_TICKET));
const BYTES_PER_WRITE = 16 * 1_024;

interface Content {
  readonly type: keyof typeof CONTENT_TYPES;
  readonly content: Buffer;
}

export class TlsRecords {
  readonly #wire: Duplex;
  #secret: Buffer;
  #key = Buffer.alloc(0);
  #iv = Buffer.alloc(0);
  #sequence = 0;

  /** `secret` is the server's first traffic secret, with which no record has been encrypted yet. */
  constructor(wire: Duplex, secret: Buffer) {
    this.#wire = wire;
    this.#secret = secret;
    this.#useSecret(secret);
  }

  /** Sends equal records until the connection is closed. */
  flood(content: Content): void {
    const length = Math.ceil(BYTES_PER_WRITE / (content.content.length + 22));
    const records = Array.from({ length }, () => this.#encrypt(content));
    this.#wire.write(Buffer.concat(records), (error) => {
      if (error == null) setImmediate(() => this.flood(content));
    });
  }

  /** Sends the key updates at once: Node's client ends the session after one that comes alone. */
  sendKeyUpdates(count: number): void {
    this.#wire.write(Buffer.concat(Array.from({ length: count }, () => this.#keyUpdate())));
  }

  #keyUpdate(): Buffer {
    const record = this.#encrypt({ type: 'handshake', content: KEY_UPDATE });
    this.#useSecret(expand(this.#secret, 'traffic upd', 32));
    return record;
  }

  #useSecret(secret: Buffer): void {
    this.#secret = secret;
    this.#key = expand(secret, 'key', 16);
    this.#iv = expand(secret, 'iv', 12);
    this.#sequence = 0;
  }

  #encrypt({ type, content }: Content): Buffer {
    const inner = Buffer.concat([content, Buffer.from([CONTENT_TYPES[type]])]);
    const header = Buffer.from([23, 3, 3, 0, 0]);
    header.writeUInt16BE(inner.length + 16, 3);
    const nonce = Buffer.from(this.#iv);
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.#sequence) >>> 0, 8);
    this.#sequence += 1;
    const cipher = createCipheriv('aes-128-gcm', this.#key, nonce).setAAD(header);
    return Buffer.concat([header, cipher.update(inner), cipher.final(), cipher.getAuthTag()]);
  }
}

/** HKDF-Expand-Label with an empty context, for at most one block of SHA-256. */
function expand(secret: Buffer, label: string, bytes: number): Buffer<ArrayBuffer> {
  const name = `tls13 ${label}`;
  const lengths = String.fromCharCode(0, bytes, name.length);
  const info = Buffer.from(`${lengths}${name}\0\x01`, 'latin1');
  return createHmac('sha256', secret).update(info).digest().subarray(0, bytes);
}
