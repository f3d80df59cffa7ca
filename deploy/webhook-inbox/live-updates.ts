// Live updates of the webhook inbox for browsers, by server-sent events.
import type { ServerResponse } from 'node:http';

/** A connection with this much unsent data is closed; the browser connects again by itself. */
const MAX_BEHIND_BYTES = 64 * 1024 * 1024;
/** Shorter than the idle timeouts of proxies. */
const HEARTBEAT_MS = 20_000;

type Event = readonly [name: string, data: unknown];

export interface LiveUpdates {
  /** Starts to stream to a browser, with the given events first. */
  add(response: ServerResponse, first: Event[]): void;
  send(name: string, data: unknown): void;
  close(): void;
}

export function createLiveUpdates(): LiveUpdates {
  const watching = new Set<ServerResponse>();
  const write = (response: ServerResponse, text: string) => {
    response.write(text);
    if (response.writableLength > MAX_BEHIND_BYTES) response.destroy();
  };
  const sendAll = (text: string) => {
    for (const response of watching) write(response, text);
  };
  const heartbeat = setInterval(() => sendAll(':\n\n'), HEARTBEAT_MS).unref();

  return {
    add(response, first) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      watching.add(response);
      response.once('close', () => watching.delete(response));
      write(response, `retry: 1000\n\n${first.map(asText).join('')}`);
    },
    send(name, data) {
      if (watching.size > 0) sendAll(asText([name, data]));
    },
    close() {
      clearInterval(heartbeat);
      for (const response of watching) response.end();
    },
  };
}

function asText([name, data]: Event): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
