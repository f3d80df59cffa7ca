/** The PDFs that were opened, kept in memory while their links live: a PDF costs up to a second of CPU. */
import type { DataKey } from '@creditlane/crypto/data-key';
import type { SealContext } from '@creditlane/crypto/envelope';
import { LRUCache } from 'lru-cache';

/** Some hundreds of documents. The one that was opened longest ago makes way for a new one. */
const MAX_BYTES = 32 * 1024 * 1024;

/** The file of a document, with the key of its applicant. */
export interface DocumentFile {
  id: string;
  retailerId: string;
  dataKey: DataKey;
}

/** Documents are sealed with the key of their applicant: nobody can read a document once the applicant is erased. */
export class KeptDocuments {
  readonly #sealed;

  constructor(maxBytes = MAX_BYTES) {
    this.#sealed = new LRUCache<string, Buffer>({
      maxSize: maxBytes,
      sizeCalculation: ({ length }) => length,
      ttlAutopurge: true,
      ttl: 1,
    });
  }

  /** How many bytes are kept. */
  get bytes(): number {
    return this.#sealed.calculatedSize;
  }

  /** The document of the file: the one that is kept, or what `draw` makes, which is then kept for `keepMs`. */
  async find(
    file: DocumentFile,
    keepMs: number,
    draw: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const kept = this.#sealed.get(file.id);
    if (kept !== undefined) return file.dataKey.unseal(kept, placeOf(file));
    const document = await draw();
    // lru-cache treats a ttl of 0 as no limit.
    this.#sealed.set(file.id, file.dataKey.seal(document, placeOf(file)), {
      ttl: Math.max(1, keepMs),
    });
    return document;
  }
}

function placeOf({ id, retailerId }: DocumentFile): SealContext {
  return { table: 'kept documents', column: 'sealed', row: id, tenant: retailerId };
}
