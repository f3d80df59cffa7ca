// What the simulator answers for each of its personas, and what the credit-file service makes of it.
import { join } from 'node:path';
import { folderOf, PERSONAS, writeAnswer } from '@creditlane/bureau-simulator/personas';
import { type FormatName, inquiryAbout, readAnswer } from '@creditlane/credit-file/test-formats';
import { openApiDocument } from '@creditlane/gateway/document/openapi-document';
import { closedSchemas } from '@creditlane/gateway/document/test-closed-schemas';
import { describe, expect, test } from 'vitest';

type Persona = (typeof PERSONAS)[number];
type Source = Persona['sources'][number];

const check = closedSchemas(openApiDocument());
const SIN = '046454286';
const DATE_OF_BIRTH = '1976-02-29';
const UNDATED = { kind: 'PARTIAL', differences: ['DATE_OF_BIRTH_MISSING'] };
const GOLDEN = join(import.meta.dirname, 'golden');

const answered = PERSONAS.flatMap((persona) =>
  persona.sources.flatMap((source) => {
    const xml = answerOf(persona, source);
    return xml === undefined
      ? []
      : [{ persona, source, xml, name: `${source.toLowerCase()}-${folderOf(persona)}` }];
  }),
);

// The trades of the persona with 200 of them are those of others, again and again.
test.each(answered.filter((it) => it.persona.lastName !== 'Thick'))(
  '$name gives the JSON of the golden file',
  async ({ persona, source, xml, name }) => {
    const { match: _, ...answer } = read(persona, source, xml);
    const json = `${JSON.stringify(answer, null, 2)}\n`;
    await expect(json).toMatchFileSnapshot(join(GOLDEN, `${name}.json`));
  },
);

describe.each(answered)('$name', ({ persona, source, xml, name }) => {
  const { match, ...answer } = read(persona, source, xml);

  test('gives a file that the OpenAPI document describes', () => {
    const file = answer.kind === 'file' ? answer.file : {};
    expect(check(['components', 'schemas', 'CreditFile'], file)).toEqual([]);
  });

  test('ends as the table of personas says', () => {
    const hitType = answer.kind === 'file' ? answer.file.hitType : null;
    expect({ name, hitType }).toEqual({ name, hitType: persona.hitType });
    expect(answer.kind === 'file').toBe(persona.outcome !== 'failed');
  });

  test('is about the person who was asked about, if it is about any', () => {
    const isOfPerson = answer.kind === 'file' && answer.file.hitType !== 'NO_HIT';
    const isUndated = persona.lastName === 'Undated';
    const own = isUndated ? UNDATED : { kind: 'FULL' };
    expect(match).toEqual(isOfPerson ? own : undefined);
  });
});

test('every section of the credit file is in the answer of a persona', () => {
  const sections = new Set<string>();
  for (const { persona, source, xml } of answered) {
    const answer = read(persona, source, xml);
    if (answer.kind === 'file') for (const name of Object.keys(answer.file)) sections.add(name);
  }
  expect([...sections].sort()).toMatchInlineSnapshot(`
    [
      "alsoReported",
      "bankruptcies",
      "bureau",
      "collections",
      "consumerStatements",
      "customerNumber",
      "fileSinceDate",
      "foreignInquiries",
      "hitStrength",
      "hitType",
      "id",
      "language",
      "lastActivityDate",
      "legalItems",
      "localInquiries",
      "requestedDate",
      "scores",
      "securedLoans",
      "source",
      "specialServices",
      "subject",
      "trades",
      "warnings",
    ]
  `);
});

/** What the credit-file service makes of the answer to its inquiry about the persona. */
function read({ firstName, lastName }: Persona, source: Source, xml: string) {
  const subject = { firstName, lastName, sin: SIN, dateOfBirth: DATE_OF_BIRTH };
  const answer = readAnswer(source.toLowerCase() as FormatName, xml, inquiryAbout({ subject }));
  return { match: undefined, ...answer };
}

/** The XML of a persona that gets any. */
function answerOf(persona: Persona, source: Source): string | undefined {
  if (persona.behaviour.kind !== 'answer') return undefined;
  const { firstName, lastName } = persona;
  const inquiry = {
    ...{ source, firstName, lastName, reference: 'b1', requestNumber: '1', sin: SIN },
    ...{ member: '999ZB12345', dateOfBirth: DATE_OF_BIRTH, date: '2026-11-22' },
  };
  return writeAnswer(inquiry, persona);
}
