/** The connections of one producer, so that what it has not sent by then can be kept from ever going. */
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactoryArgs } from 'kafkajs';

/** As the library sets it for connections of its own making. */
const KEEP_ALIVE_MS = 60_000;

export class CutConnectionError extends Error {
  override readonly name = 'CutConnectionError';
  readonly loggable = true;
  override readonly message = 'the connection was given up';
}

export class ProducerConnections {
  /** What the library speaks to, with the TCP connection that carries it. */
  readonly #open = new Map<Socket, Socket>();
  #isCut = false;

  /** The library's `socketFactory`. Throws `CutConnectionError` once they are cut. */
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
   * Ends them all and lets none be made anew. What waits to be sent, here or in the system, is thrown
   * away; what has reached a broker may still be taken in.
   */
  cut(): void {
    this.#isCut = true;
    for (const [socket, tcp] of this.#open) {
      tcp.resetAndDestroy();
      // The library learns of an end by an error alone, and would wait for its answers.
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
