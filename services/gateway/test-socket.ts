/** For tests: a client's TCP connection, for requests that HTTP clients refuse to send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface TestSocket {
  socket: Socket;
  /** What the server has sent so far. */
  received(): string;
  /** The status codes of the answers received so far. */
  statuses(): number[];
  /** Resolves with all that the server sent, when the server has closed the connection. */
  closed: Promise<string>;
}

/** Connects to the port of this machine and sends the text. */
export async function openTestSocket(port: number, text = ''): Promise<TestSocket> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (data) => {
    received += data;
  });
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(received));
    // A connection that the server cut ends with an error or without one.
    socket.on('error', () => {});
  });
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  const statuses = () =>
    [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  return { socket, received: () => received, statuses, closed };
}

/** The text of a request with these headers, one a line. */
export function requestText(line: string, headers: readonly string[] = [], body = ''): string {
  return `${[`${line} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n${body}`;
}
