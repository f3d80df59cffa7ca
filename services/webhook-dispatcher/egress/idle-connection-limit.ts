/** The idle connections to all destinations together. */
import type { Connection } from './connection.ts';

/**
 * Closes the connection that was idle longest when there are more than `max`. Otherwise connections to many destinations,
 * each kept for as long as its receiver allows, use up the process's file descriptors, and no connection to the database
 * can be opened either.
 *
 * A closed connection is in its destination's pool until its socket has ended; a request that takes it there is sent over
 * another one.
 */
export class IdleConnectionLimit {
  readonly #max: number;
  /** In the order in which they became idle. */
  readonly #connections = new Set<Connection>();

  constructor(max: number) {
    this.#max = max;
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
    if (this.#connections.size <= this.#max) return;
    const [longest] = this.#connections;
    if (longest === undefined) return;
    this.#connections.delete(longest);
    longest.close();
  }

  delete(connection: Connection): void {
    this.#connections.delete(connection);
  }
}
