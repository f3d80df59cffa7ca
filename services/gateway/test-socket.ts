/** For tests: a client's TCP connection, for requests that HTTP clients refuse to send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

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

/**
 * Opens connections from another thread and sends a request on each. `connected` becomes 1 once all are sent, also while the event
 * loop of the caller stands still; `ends` resolves to what the server sent on each.
 */
export function connectFromThread(port: number, connections: number) {
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const program = `
    const { connect } = require('node:net');
    const { parentPort, workerData: { port, connections, connected } } = require('node:worker_threads');
    let sent = 0;
    const ends = Array.from({ length: connections }, () => new Promise((resolve) => {
      let received = '';
      const socket = connect(port, '127.0.0.1', () => {
        socket.write('GET / HTTP/1.1\\r\\nHost: gateway\\r\\n\\r\\n', () => {
          sent += 1;
          if (sent < connections) return;
          Atomics.store(connected, 0, 1);
          Atomics.notify(connected, 0);
        });
      });
      socket.on('data', (data) => { received += data; });
      socket.on('error', (error) => { received += error.code; });
      socket.on('close', () => resolve(received));
    }));
    Promise.all(ends).then((all) => parentPort.postMessage(all));
  `;
  const workerData = { port, connections, connected };
  const worker = new Worker(program, { eval: true, workerData });
  return { connected, ends: once(worker, 'message') as Promise<[string[]]> };
}
