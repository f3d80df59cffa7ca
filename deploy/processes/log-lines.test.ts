import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { showLines } from './log-lines.ts';

test('log entries and plain text are shown with the name of their process', async () => {
  const output = new PassThrough();
  const shown: string[] = [];
  showLines('decisions-2', output, (text) => shown.push(text));
  const entry = { time: '2026-02-03T04:05:06.789Z', level: 'info', service: 'decisions' };
  output.write(`${JSON.stringify({ ...entry, msg: 'started', port: 9000 })}\n42\n`);
  output.end('Cannot find module\n');
  await expect
    .poll(() => shown)
    .toEqual([
      '04:05:06.789 INFO  decisions-2: started port=9000\n',
      'decisions-2: 42\n',
      'decisions-2: Cannot find module\n',
    ]);
});
