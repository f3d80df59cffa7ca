// Shows the log of a service's process as readable lines.
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { prettyLine } from '@creditlane/runtime/telemetry/pretty-lines';

/** Writes the output of a service's process as lines for people, each with the process's name. */
export function showLines(name: string, output: Readable, write: (text: string) => void): void {
  createInterface({ input: output }).on('line', (line) => write(`${format(name, line)}\n`));
}

function format(name: string, line: string): string {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry === 'object' && entry !== null) return prettyLine({ ...entry, service: name });
  } catch {
    // Not a log entry: Node itself prints plain text, for example about a module it cannot load.
  }
  return `${name}: ${line}`;
}
