// What arrived at the inbox: the latest deliveries, in memory and, when asked, in a file.
import { appendFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';

const MAX_ARRIVALS = 1_000;
/** Large bodies push out old ones sooner, so that the inbox stays small in memory. */
const MAX_TOTAL_CHARACTERS = 32 * 1024 * 1024;

/** A delivery that was answered with success. */
export interface ReceivedWebhook {
  /** ISO 8601, in UTC. */
  receivedAt: string;
  path: string;
  /** Names in lower case; a header sent several times is joined by a comma. */
  headers: Record<string, string>;
  /** The text as it came. */
  body: string;
}

export interface ReceivedWebhooks {
  /** Keeps a delivery; throws when the file cannot take it, and then it is not kept. */
  add(request: IncomingMessage, body: string): ReceivedWebhook;
  /** Oldest first. */
  all(): readonly ReceivedWebhook[];
  clear(): void;
}

/**
 * Opens the store with what the file holds.
 * @param file one JSON object a line, appended to; made when missing
 */
export async function openReceivedWebhooks(file: string | undefined): Promise<ReceivedWebhooks> {
  const kept = file === undefined ? [] : await readArrivals(file);
  let characters = kept.reduce((sum, { body }) => sum + body.length, 0);
  let linesInFile = 0;

  const trim = () => {
    while (kept.length > MAX_ARRIVALS || characters > MAX_TOTAL_CHARACTERS) {
      characters -= kept.shift()?.body.length ?? 0;
    }
  };
  const rewrite = () => {
    if (file === undefined) return;
    writeFileSync(file, kept.map(asLine).join(''), { mode: 0o600 });
    linesInFile = kept.length;
  };

  trim();
  rewrite();
  return {
    add(request, body) {
      const arrival = arrivalOf(request, body);
      // Synchronously, because the sender may be told of success only once it is kept.
      if (file !== undefined) appendFileSync(file, asLine(arrival));
      linesInFile += 1;
      characters += body.length;
      kept.push(arrival);
      trim();
      // The file grows to twice what is kept before it is worth writing anew.
      if (linesInFile > 2 * MAX_ARRIVALS) rewrite();
      return arrival;
    },
    all: () => kept,
    clear() {
      kept.length = 0;
      characters = 0;
      rewrite();
    },
  };
}

function arrivalOf(request: IncomingMessage, body: string): ReceivedWebhook {
  const headers = Object.entries(request.headersDistinct).map(
    ([name, values = []]) => [name, values.join(', ')] as const,
  );
  return {
    receivedAt: new Date().toISOString(),
    path: request.url ?? '/',
    headers: Object.fromEntries(headers),
    body,
  };
}

function asLine(arrival: ReceivedWebhook): string {
  return `${JSON.stringify(arrival)}\n`;
}

async function readArrivals(file: string): Promise<ReceivedWebhook[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').flatMap(readLine);
}

/** A write that was cut off leaves a line without its end; its sender was told of no success. */
function readLine(line: string): ReceivedWebhook[] {
  try {
    return [JSON.parse(line) as ReceivedWebhook];
  } catch {
    return [];
  }
}
