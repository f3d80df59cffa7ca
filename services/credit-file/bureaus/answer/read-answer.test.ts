import { describe, expect, test } from 'vitest';
import { INQUIRY } from '../test-formats.ts';
import { readCodeTables } from './code-tables.ts';
import { readAnswer, refusedBy } from './read-answer.ts';

const { equifax: tables } = readCodeTables('equifax: { error: { U1: unavailable } }');
const refusing = { readRoot: () => refusedBy(tables, [{ code: 'U1' }]) };
const read = (xml: string) => readAnswer(Buffer.from(xml), refusing, INQUIRY);

test('an error in reading makes the answer malformed and shows none of its contents', () => {
  const readRoot = () => {
    throw new TypeError('Jane Roe has no name');
  };
  const answer = readAnswer(Buffer.from('<a/>'), { readRoot }, INQUIRY);
  expect(answer).toEqual({ kind: 'malformed', problem: 'The answer cannot be read: TypeError.' });
});

test('the names in an answer that is not well-formed are not shown', () => {
  expect(read('<a><jane-roe></a>')).toEqual({
    kind: 'malformed',
    problem: expect.not.stringContaining('jane'),
  });
});

test('the code of a refusal is cut to 40 characters', () => {
  const answer = refusedBy(tables, [{ code: `  ${'c'.repeat(50)}` }]);
  expect(answer).toMatchObject({ code: 'c'.repeat(40), reason: 'rejected' });
});

test('of several errors the most lasting one decides, and all are kept', () => {
  const errors = [{ code: 'U1' }, { code: 'EV304' }, { code: 'E0819' }];
  expect(refusedBy(tables, errors)).toEqual({
    ...{ kind: 'refused', reason: 'credentials', code: 'E0819' },
    errors: [{ code: 'E0819' }, { code: 'U1' }, { code: 'EV304' }],
  });
});

test.each([
  ['DateOfBirth', 'DateOfBirth'],
  [' Subject/DateOfBirth ', 'Subject/DateOfBirth'],
  ['1976-02-29', undefined],
  ['Zoe Roy', undefined],
  ['', undefined],
])('of the additional information "%s" the element %s is kept', (detail, element) => {
  const error = { code: 'E0807', ...(element && { element }) };
  expect(refusedBy(tables, [{ code: 'E0807', detail }])).toMatchObject({ errors: [error] });
});

describe('a SOAP fault', () => {
  const soap11 = (code: string) =>
    `<s:Envelope xmlns:s="x"><s:Body><s:Fault><faultcode>${code}</faultcode><faultstring>WORDS</faultstring></s:Fault></s:Body></s:Envelope>`;
  const soap12 = (code: string) =>
    `<s:Envelope xmlns:s="x"><s:Body><s:Fault><s:Code><s:Value>${code}</s:Value></s:Code><s:Reason><s:Text>WORDS</s:Text></s:Reason></s:Fault></s:Body></s:Envelope>`;

  test.each([
    ['Client', soap11('s:Client')],
    ['Client.Authentication', soap11('s:Client.Authentication')],
    ['Sender', soap12('s:Sender')],
  ])('%s is a refusal', (name, body) => {
    expect(read(body)).toEqual({ kind: 'refused', reason: 'rejected', code: `SOAP_${name}` });
  });

  test.each([soap11('s:Server'), soap12('s:Receiver'), soap12('')])(
    'of the server leaves open what became of the inquiry, so it is malformed',
    (body) => {
      expect(read(body)).toMatchObject({ kind: 'malformed' });
    },
  );
});
