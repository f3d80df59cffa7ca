/** The openings of links to documents that are under way: a few at once, and fewer of one document. */
import { resourceExhausted } from '@creditlane/rpc/fault';
import { TurnQueue } from './turn-queue.ts';

const AT_ONCE = 4;
/** So that the holders of one link leave turns for the links to other documents. */
const AT_ONCE_OF_ONE = 2;
/** Openings that wait also count as requests under way, of which all link holders together have one caller's share. */
const MAX_WAITING = 1_000;

export class DocumentOpenings {
  readonly #turns = new TurnQueue({
    maxRunning: AT_ONCE,
    maxWaiting: MAX_WAITING,
    full: 'more documents wait to be opened than are taken on at once',
  });
  /** Openings that run or wait, by document. */
  readonly #underWay = new Map<string, number>();

  /**
   * Opens the document when it is its turn. Throws a `resource_exhausted` Fault when this document is being opened too often
   * at once, and an `overloaded` Fault when too many openings wait.
   */
  async run<T>(documentId: string, open: () => Promise<T>): Promise<T> {
    const others = this.#underWay.get(documentId) ?? 0;
    if (others >= AT_ONCE_OF_ONE) {
      const message = 'this link is being opened too often at once; please wait';
      throw resourceExhausted('too_many_under_way', message, 1);
    }
    this.#underWay.set(documentId, others + 1);
    try {
      return await this.#turns.run(open);
    } finally {
      const left = (this.#underWay.get(documentId) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(documentId);
      else this.#underWay.set(documentId, left);
    }
  }
}
