/** The table of credit files read from bureaus' answers. */
import type { CreditFileResults } from '../measurements/credit-files.ts';
import { formatColumns, formatNumber } from './columns.ts';

export function creditFileTable({ equifax, transUnion }: CreditFileResults): string[] {
  const rows = [
    ['an answer with 200 trades', 'Equifax', 'TransUnion'],
    ['  size', ...[equifax, transUnion].map(({ bytes }) => `${formatNumber(bytes / 1_000)} KB`)],
    [
      'XML parser alone (the limit)',
      ...[equifax, transUnion].map((it) => `${formatNumber(it.parsedPerSecond)}/s`),
    ],
    [
      'read into a credit file',
      ...[equifax, transUnion].map((it) => `${formatNumber(it.readPerSecond)}/s`),
    ],
    [
      '  as a share of the limit',
      ...[equifax, transUnion].map((it) => `${formatNumber(it.shareOfLimit * 100)} %`),
    ],
  ];
  return formatColumns(rows);
}
