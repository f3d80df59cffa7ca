import { prettyLine } from '@creditlane/runtime/telemetry/pretty-lines';
import { expect, test } from 'vitest';
import { findWarnings } from './find-warnings.ts';

test('of a platform’s output, the warnings and errors are found, with the lines of their errors', () => {
  const entry = { time: '2026-01-02T03:04:05.678Z', service: 'decisions' };
  const err = { name: 'Error', message: 'gone', stack: 'at first\nat second' };
  const started = prettyLine({ ...entry, level: 'info', msg: 'started' });
  const failed = prettyLine({ ...entry, level: 'warn', msg: 'failed', err });
  const lost = prettyLine({ ...entry, level: 'error', msg: 'lost', count: 3 });
  const output = ['Starting', started, failed, started, lost, 'Ready at http://x', ''].join('\n');
  expect(findWarnings(output)).toEqual([failed, lost]);
  expect(failed.split('\n')).toHaveLength(4);
});
