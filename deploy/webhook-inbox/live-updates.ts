// The browsers that watch the inbox live, by server-sent events.
import type { ServerResponse } from 'node:http';

/** A watcher this far behind is let go; its browser comes back by itself. */
const MAX_BEHIND_BYTES = 64 * 1024 * 1024;
/** Often enough that nothing on the way takes a quiet connection for a dead one. */
const HEARTBEAT_MS = 20_000;

type Event = readonly [name: string, data: unknown];

export interface LiveUpdates {
  /** Starts telling a browser, beginning with the given events. */
  add(response: ServerResponse, first: Event[]): void;
  tell(name: string, data: unknown): void;
  close(): void;
}

/** Nobody watches yet. */
export function createLiveUpdates(): LiveUpdates {
  const watching = new Set<ServerResponse>();
  const send = (response: ServerResponse, text: string) => {
    response.write(text);
    if (response.writableLength > MAX_BEHIND_BYTES) response.destroy();
  };
  const sendAll = (text: string) => {
    for (const response of watching) send(response, text);
  };
  const heartbeat = setInterval(() => sendAll(':\n\n'), HEARTBEAT_MS).unref();

  return {
    add(response, first) {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      watching.add(response);
      response.once('close', () => watching.delete(response));
      send(response, `retry: 1000\n\n${first.map(asText).join('')}`);
    },
    tell(name, data) {
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
