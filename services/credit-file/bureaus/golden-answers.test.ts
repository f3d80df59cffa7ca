import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findSchemaFaults } from '../test-credit-file-schema.ts';
import { type FormatName, readFile } from './test-formats.ts';

const GOLDEN = join(import.meta.dirname, 'golden');
const answers = readdirSync(GOLDEN).filter((name) => name.endsWith('.xml'));

describe.each(answers)('%s', (name) => {
  const body = readFileSync(join(GOLDEN, name));
  const { file, unknownCodes } = readFile(name.split('-')[0] as FormatName, body);

  test('gives the credit file and the unknown codes of its JSON file', async () => {
    const read = `${JSON.stringify({ file, unknownCodes }, null, 2)}\n`;
    await expect(read).toMatchFileSnapshot(join(GOLDEN, name.replace('.xml', '.json')));
  });

  test('gives a credit file that the OpenAPI document describes', () => {
    expect(findSchemaFaults(file)).toEqual([]);
  });
});
