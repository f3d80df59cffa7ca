// Every element, code and rule that is known of the bureaus' formats becomes what docs/bureau-formats.md says.
import { readFileSync } from 'node:fs';
import { type FormatName, INQUIRY, readAnswer } from '@creditlane/credit-file/test-formats';
import { describe, expect, test } from 'vitest';
import { BUREAUS, bureauFormatsPage } from './bureau-formats-page.ts';
import { titleOf } from './format-row.ts';
import { EQUIFAX_REQUEST } from './request-rows.ts';

/** The credit file with what is said beside it, or else the refusal. */
function resultOf(format: FormatName, body: string): unknown {
  const answer = readAnswer(format, body, INQUIRY);
  if (answer.kind !== 'file') return answer;
  const { file, match, unknownCodes } = answer;
  const counted = unknownCodes.map(({ section, code }) => `${section} ${code}`);
  return { ...file, match, counted };
}

function valueAt(result: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((at: unknown, name) => (at as Record<string, unknown> | undefined)?.[name], result);
}

describe('a request to Equifax Canada', () => {
  for (const row of EQUIFAX_REQUEST) {
    test(titleOf(row), () => {
      expect(row.text()).toMatch(row.pattern);
    });
  }
});

for (const { bureau, format, parts } of BUREAUS) {
  describe.each(parts)(`an answer of ${bureau}: $title`, ({ rows }) => {
    for (const row of rows) {
      test(titleOf(row), () => {
        for (const answer of row.answers) {
          expect(valueAt(resultOf(format, answer), row.path)).toEqual(row.value);
        }
      });
    }
  });
}

test('docs/bureau-formats.md is what the rows generate, and no two rows of a part are the same', () => {
  const page = readFileSync(new URL('../../../docs/bureau-formats.md', import.meta.url), 'utf8');
  expect(page).toBe(bureauFormatsPage());
  for (const { rows } of BUREAUS.flatMap(({ parts }) => parts)) {
    const titles = rows.map(titleOf);
    expect(new Set(titles).size).toBe(titles.length);
  }
});
