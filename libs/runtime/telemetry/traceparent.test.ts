import { expect, test } from 'vitest';
import {
  acceptedTraceparent,
  formatTraceparent,
  newTraceparent,
  parseTraceparent,
  traceIdOf,
} from './traceparent.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const LONG = `cc-${TRACE}-${SPAN}-01-é`.padEnd(10_000, 'x');

test('a traceparent of version 00 is parsed and formatted', () => {
  const text = `00-${TRACE}-${SPAN}-01`;
  const context = { traceId: TRACE, spanId: SPAN, flags: 1 };
  expect(parseTraceparent(text)).toEqual(context);
  expect(formatTraceparent(context)).toBe(text);
});

test('a traceparent of a later version with a suffix is parsed', () => {
  expect(traceIdOf(`01-${TRACE}-${SPAN}-01-more`)).toBe(TRACE);
});

test.each([
  { what: 'version 00', text: `00-${TRACE}-${SPAN}-00`, flags: '00' },
  { what: 'both flags of the standard', text: `00-${TRACE}-${SPAN}-03`, flags: '03' },
  { what: 'flags that have no meaning yet', text: `00-${TRACE}-${SPAN}-ff`, flags: '03' },
  { what: 'a later version', text: `cc-${TRACE}-${SPAN}-01`, flags: '01' },
  { what: 'a later version with an empty suffix', text: `cc-${TRACE}-${SPAN}-01-`, flags: '01' },
  { what: 'a later version with a long suffix', text: LONG, flags: '01' },
])('$what is passed on in version 00 with the known flags only', ({ text, flags }) => {
  expect(acceptedTraceparent(text)).toBe(`00-${TRACE}-${SPAN}-${flags}`);
});

test.each([
  undefined,
  null,
  '',
  'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  '00-00000000000000000000000000000000-b7ad6b7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
  '00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-é',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n',
  '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.more',
  '0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ' 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
])('%o is malformed', (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
  expect(acceptedTraceparent(text)).toBeUndefined();
});

test('two headers are malformed', () => {
  const text = `00-${TRACE}-${SPAN}-01`;
  expect(acceptedTraceparent([text, text])).toBeUndefined();
});

test('a new trace has an id of its own and is not recorded', () => {
  const context = parseTraceparent(newTraceparent());
  expect(context?.flags).toBe(0);
  expect(traceIdOf(newTraceparent())).not.toBe(context?.traceId);
});
