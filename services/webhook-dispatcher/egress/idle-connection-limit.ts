/** The idle connections to all destinations together. */
import type { Connection } from './connection.ts';

/**
 * Closes the connection that was idle longest when there are too many: connections for many destinations, each kept for
 * as long as its receiver allows, would else use up the process's file descriptors, and with them its database's.
 */
export class IdleConnections {
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
