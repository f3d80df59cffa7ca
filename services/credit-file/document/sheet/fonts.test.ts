import { expect, test } from 'vitest';
import { drawCreditFile } from '../draw-credit-file.ts';
import { NO_HIT_FILE } from '../test-credit-files.ts';
import { readPdf } from '../test-read-pdf.ts';

// The fonts are shared by the documents of a thread, and this file's are new: no other document was printed with them.
test('a document that has a letter only below an accent leaves the letter readable in the next one', async () => {
  const file = { ...NO_HIT_FILE, hitType: 'CREDIT_LOCK' } as const;
  const french = await readPdf(await drawCreditFile({ ...file, language: 'FR' }));
  expect(french.text).toContain('À noter');

  const english = await readPdf(await drawCreditFile({ ...file, language: 'EN' }));

  expect(english.text).toContain('Attention');
  expect(english.text).toContain('CONFIDENTIAL');
});
