import { describe, expect, test } from 'vitest';
import { readPdf } from '../test-read-pdf.ts';
import { Sheet } from './sheet.ts';
import { drawTable } from './table.ts';

/** The pages of a table of one row, whose heading comes where `remaining` points are left on the first page. */
async function drawRow({ lines, remaining }: { lines: number; remaining: number }) {
  const sheet = new Sheet({ title: 'a document', language: 'en-CA', date: new Date(0) });
  sheet.y += sheet.remaining - remaining;
  drawTable(sheet, sheet.root, {
    title: 'Heading',
    level: 'section',
    continuedTitle: 'Heading, continued',
    columns: [{ title: ['Column'], share: 1 }],
    rows: [{ cells: [Array.from({ length: lines }, (_, index) => `line-${index + 1}`)] }],
  });
  return (await readPdf(await sheet.finish(() => {}))).pages;
}

describe('the heading and the header of a table', () => {
  test('are on the page of the first row when that fits on one page', async () => {
    const pages = await drawRow({ lines: 30, remaining: 300 });
    expect(pages).toEqual(['', expect.stringMatching(/^Heading Column line-1 .* line-30$/)]);
  });

  test('are on the page where the first row begins when that is taller than a page', async () => {
    const pages = await drawRow({ lines: 100, remaining: 300 });
    expect(pages[0]).toMatch(/^Heading Column line-1 /);
    expect(pages[1]).toMatch(/^Heading, continued Column line-\d+ .* line-\d+$/);
    expect(await drawRow({ lines: 100, remaining: 200 })).toMatchObject({ 0: '', length: 3 });
  });
});
