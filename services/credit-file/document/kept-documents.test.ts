import { randomBytes } from 'node:crypto';
import { DataKey } from '@creditlane/crypto/data-key';
import { SealError } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { expect, test, vi } from 'vitest';
import { type DocumentFile, KeptDocuments } from './kept-documents.ts';

const PDF = Buffer.from('%PDF-1.7 of Amélie Tremblay');
const KEEP_MS = 900_000;

function aFile(id: string): DocumentFile {
  const ring = KeyRing.parse(`k1:${randomBytes(32).toString('base64')}`);
  const place = { table: 'keys', column: 'sealed', row: id, tenant: 'retailer' };
  const dataKey = DataKey.open(ring, DataKey.generateStored(ring, place), place);
  return { id, retailerId: 'retailer', dataKey };
}

/** Draws documents, and counts them. */
function useDrawing(maxBytes?: number) {
  const documents = new KeptDocuments(maxBytes);
  const draw = vi.fn(async () => Uint8Array.from(PDF));
  const find = async (file: DocumentFile, keepMs = KEEP_MS) =>
    Buffer.from(await documents.find(file, keepMs, draw));
  return { documents, draw, find };
}

test('a document is drawn once until its link ends, and then leaves the memory', async () => {
  const { documents, draw, find } = useDrawing();
  const file = aFile('a');
  expect([await find(file), await find(file)]).toEqual([PDF, PDF]);
  expect(draw).toHaveBeenCalledTimes(1);
  const { bytes } = documents;
  const ending = aFile('b');
  await find(ending, 1);
  await expect.poll(() => documents.bytes).toBe(bytes);
  expect(await find(ending)).toEqual(PDF);
  expect(draw).toHaveBeenCalledTimes(3);
});

test('a document is opened with the key of its applicant alone', async () => {
  const { find } = useDrawing();
  await find(aFile('a'));
  await expect(find(aFile('a'))).rejects.toThrow(SealError);
});

test('documents beyond the limit take the place of the one that was opened longest ago', async () => {
  const { documents, draw, find } = useDrawing(150);
  const [first, second, third] = ['a', 'b', 'c'].map(aFile) as [
    DocumentFile,
    DocumentFile,
    DocumentFile,
  ];
  for (const file of [first, second, third]) await find(file);
  expect(documents.bytes).toBeLessThanOrEqual(150);
  await find(third);
  expect(draw).toHaveBeenCalledTimes(3);
  await find(first);
  expect(draw).toHaveBeenCalledTimes(4);
});

test('a document that cannot be drawn, or is larger than what is kept, is not kept', async () => {
  const { documents, draw, find } = useDrawing(10);
  draw.mockRejectedValueOnce(new Error('too many documents'));
  await expect(find(aFile('a'))).rejects.toThrow('too many documents');
  expect(await find(aFile('b'))).toEqual(PDF);
  expect(documents.bytes).toBe(0);
});
