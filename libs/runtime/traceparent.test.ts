import { expect, test } from 'vitest';
import { formatTraceparent, newTraceparent, parseTraceparent, traceIdOf } from './traceparent.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('a traceparent is read and written as the standard says', () => {
  const text = `00-${TRACE}-${SPAN}-01`;
  const context = { traceId: TRACE, spanId: SPAN, flags: 1 };
  expect(parseTraceparent(text)).toEqual(context);
  expect(formatTraceparent(context)).toBe(text);
});

test('one of a later version is read as far as this version knows it', () => {
  expect(traceIdOf(`01-${TRACE}-${SPAN}-01-more`)).toBe(TRACE);
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
  ' 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
])('%o is no traceparent', (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

test('a new trace is one of its own, and not recorded', () => {
  const context = parseTraceparent(newTraceparent());
  expect(context?.flags).toBe(0);
  expect(traceIdOf(newTraceparent())).not.toBe(context?.traceId);
});
