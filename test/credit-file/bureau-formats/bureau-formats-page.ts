// docs/bureau-formats.md: what is known of the bureaus' formats, and what becomes of it.

import { EQUIFAX_ENDINGS } from './equifax-ending-rows.ts';
import { EQUIFAX_ELEMENTS } from './equifax-rows.ts';
import { EQUIFAX_RULES } from './equifax-rule-rows.ts';
import { EQUIFAX_TRADES } from './equifax-trade-rows.ts';
import type { FormatPart, titleOf } from './format-row.ts';
import { EQUIFAX_REQUEST } from './request-rows.ts';
import { TRANSUNION_ANSWERS } from './transunion-rows.ts';

export const BUREAUS: readonly {
  bureau: string;
  format: 'equifax' | 'transunion';
  parts: readonly FormatPart[];
}[] = [
  {
    bureau: 'Equifax Canada',
    format: 'equifax',
    parts: [...EQUIFAX_ELEMENTS, ...EQUIFAX_TRADES, EQUIFAX_RULES, ...EQUIFAX_ENDINGS],
  },
  { bureau: 'TransUnion Canada', format: 'transunion', parts: TRANSUNION_ANSWERS },
];

type PageRow = Parameters<typeof titleOf>[0] & { known: string };

/** The page. Every row of it is a test of bureau-formats.test.ts, whose title the row is. */
export function bureauFormatsPage(): string {
  const answers = BUREAUS.map(({ bureau, parts }) => {
    const tables = parts.map(({ title, rows }) => `### ${title}\n\n${table(rows)}`);
    return `## Answers of ${bureau}\n\n${tables.join('\n')}`;
  });
  return `<!-- Generated from test/credit-file/bureau-formats by npm run generate. Do not edit. -->

# Formats of the bureaus

The bureaus give their schemas to subscribers only. This is what is publicly known of them, and what becomes of it. Each row
is a test of \`test/credit-file/bureau-formats/bureau-formats.test.ts\`, whose title the row is. *Seen* is in sample answers of a bureau's
test system, *read* in public clients and guides, and *concluded* from these: it is a setting or an entry of a code table, for
which [operations/bureaus.md](operations/bureaus.md) has the words.

## Requests to Equifax Canada

${table(EQUIFAX_REQUEST)}
${answers.join('\n')}`;
}

function table(rows: readonly PageRow[]): string {
  const cells = rows.map(({ wire, becomes, known }) => [wire, becomes, known]);
  const lines = [['format', 'becomes', 'known'], ['---', '---', '---'], ...cells];
  return lines.map((it) => `| ${it.join(' | ')} |\n`).join('');
}
