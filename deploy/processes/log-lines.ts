import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { prettyLine } from '@creditlane/runtime/telemetry/pretty-lines';

/** Writes what a service's process says for people: each line under the process's name. */
export function showLines(name: string, said: Readable, write: (text: string) => void): void {
  createInterface({ input: said }).on('line', (line) => write(`${readable(name, line)}\n`));
}

function readable(name: string, line: string): string {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry === 'object' && entry !== null) return prettyLine({ ...entry, service: name });
  } catch {
    // Not the log's: what Node itself says of a process that it cannot run.
  }
  return `${name}: ${line}`;
}
