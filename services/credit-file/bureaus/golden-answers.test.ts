import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findSchemaFaults } from '../test-credit-file-schema.ts';
import { type FormatName, GOLDEN_INQUIRIES, readFile } from './test-formats.ts';

const GOLDEN = join(import.meta.dirname, 'golden');
const answers = readdirSync(GOLDEN).filter((name) => name.endsWith('.xml'));

describe.each(answers)('%s', (name) => {
  const body = readFileSync(join(GOLDEN, name));
  const format = name.split('-')[0] as FormatName;
  const { file, unknownCodes, match } = readFile(format, body, GOLDEN_INQUIRIES[format]);

  test('gives the credit file and the unknown codes of its JSON file', async () => {
    const read = `${JSON.stringify({ file, unknownCodes }, null, 2)}\n`;
    await expect(read).toMatchFileSnapshot(join(GOLDEN, name.replace('.xml', '.json')));
  });

  test('is about the person of its inquiry', () => {
    expect(match).toEqual({ kind: 'FULL' });
  });

  test('gives a credit file that the OpenAPI document describes', () => {
    expect(findSchemaFaults(file)).toEqual([]);
  });
});
