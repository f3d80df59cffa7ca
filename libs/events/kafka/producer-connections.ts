/** The connections of one producer, which can be cut so that no unsent message is sent later. */

import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import type { ISocketFactoryArgs } from 'kafkajs';

/** The value that kafkajs sets for its own connections. */
const KEEP_ALIVE_MS = 60_000;

export class CutConnectionError extends LoggableError {
  override readonly message = 'the connection was cut';
}

export class ProducerConnections {
  /** The sockets that kafkajs uses, each with the TCP connection below it. */
  readonly #open = new Map<Socket, Socket>();
  #isCut = false;

  /** The `socketFactory` for kafkajs. Throws `CutConnectionError` after `cut`. */
  readonly connect = ({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket => {
    if (this.#isCut) throw new CutConnectionError();
    const tcp = connect({ host, port });
    tcp.setKeepAlive(true, KEEP_ALIVE_MS);
    const socket = ssl ? secured(tcp, host, ssl) : tcp;
    socket.once(ssl ? 'secureConnect' : 'connect', onConnect);
    this.#open.set(socket, tcp);
    tcp.once('close', () => this.#open.delete(socket));
    return socket;
  };

  /**
   * Resets all connections and refuses new ones. Data that waits to be sent, in this process or in the
   * operating system, is discarded; a broker may still store what it has received.
   */
  cut(): void {
    this.#isCut = true;
    for (const [socket, tcp] of this.#open) {
      tcp.resetAndDestroy();
      // kafkajs notices the end of a connection only by an error; it would wait for its answers.
      socket.emit('error', new CutConnectionError());
    }
  }
}

function secured(tcp: Socket, host: string, ssl: ISocketFactoryArgs['ssl']): Socket {
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = connectTls({ ...ssl, ...name, host, socket: tcp });
  tcp.once('error', (error) => socket.destroy(error));
  return socket;
}
