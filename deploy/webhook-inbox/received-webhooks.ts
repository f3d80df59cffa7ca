// The latest webhooks that the webhook inbox accepted, in memory and, where configured, in a file.
import { appendFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';

const MAX_WEBHOOKS = 1_000;
/** The most characters of all bodies together; limits the memory. Large bodies displace old webhooks sooner. */
const MAX_TOTAL_CHARACTERS = 32 * 1024 * 1024;

/** A webhook that was answered with success. */
export interface ReceivedWebhook {
  /** ISO 8601, in UTC. */
  receivedAt: string;
  path: string;
  /** Names in lower case; the values of a repeated header are joined by commas. */
  headers: Record<string, string>;
  /** The text as it was received. */
  body: string;
}

export interface ReceivedWebhooks {
  /** Stores a webhook. Throws, without storing it, when the file cannot be written. */
  add(request: IncomingMessage, body: string): ReceivedWebhook;
  /** Oldest first. */
  all(): readonly ReceivedWebhook[];
  clear(): void;
}

/**
 * Opens the store with what the file holds.
 * @param file one JSON object a line, appended to; created when missing
 */
export async function openReceivedWebhooks(file: string | undefined): Promise<ReceivedWebhooks> {
  const stored = file === undefined ? [] : await readWebhooks(file);
  let characters = stored.reduce((sum, { body }) => sum + body.length, 0);
  const inFile = { webhooks: 0, characters: 0 };

  const trim = () => {
    while (stored.length > MAX_WEBHOOKS || characters > MAX_TOTAL_CHARACTERS) {
      characters -= stored.shift()?.body.length ?? 0;
    }
  };
  const rewrite = () => {
    if (file === undefined) return;
    writeFileSync(file, stored.map(asLine).join(''), { mode: 0o600 });
    inFile.webhooks = stored.length;
    inFile.characters = characters;
  };

  trim();
  rewrite();
  return {
    add(request, body) {
      const webhook = webhookOf(request, body);
      // Synchronously: success is answered only once the webhook is stored.
      if (file !== undefined) appendFileSync(file, asLine(webhook), { mode: 0o600 });
      inFile.webhooks += 1;
      inFile.characters += body.length;
      characters += body.length;
      stored.push(webhook);
      trim();
      // The file is rewritten once it holds twice as much as may be stored.
      const isFull =
        inFile.webhooks > 2 * MAX_WEBHOOKS || inFile.characters > 2 * MAX_TOTAL_CHARACTERS;
      if (isFull) rewrite();
      return webhook;
    },
    all: () => stored,
    clear() {
      stored.length = 0;
      characters = 0;
      rewrite();
    },
  };
}

function webhookOf(request: IncomingMessage, body: string): ReceivedWebhook {
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

/** Begins with the end of the line before, which is incomplete where a full disk has cut off a write. */
function asLine(webhook: ReceivedWebhook): string {
  return `\n${JSON.stringify(webhook)}`;
}

async function readWebhooks(file: string): Promise<ReceivedWebhook[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').flatMap(readLine);
}

/** The first line is empty. A write that was cut off leaves an incomplete line, whose sender got no success. */
function readLine(line: string): ReceivedWebhook[] {
  try {
    return [JSON.parse(line) as ReceivedWebhook];
  } catch {
    return [];
  }
}
