import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CreditFile, Trade } from '../credit-file.ts';
import { drawCreditFile } from './draw-credit-file.ts';
import { fileWithTrades, NO_HIT_FILE, WHOLE_FILE } from './test-credit-files.ts';
import { type ReadPdf, readPdf } from './test-read-pdf.ts';
import { ENGLISH } from './words/english.ts';
import { formatsOf } from './words/formats.ts';
import { FRENCH } from './words/french.ts';
import type { Words } from './words/words.ts';

const NAME = 'Éloïse Anne Lefebvre-Côté Jr';

describe.each([
  ['English', 'EN', ENGLISH],
  ['French', 'FR', FRENCH],
] as const)('a document in %s', (_, language, words) => {
  const file = { ...WHOLE_FILE, language };
  let pdf: ReadPdf;
  beforeAll(async () => {
    pdf = await readPdf(await drawCreditFile(file));
  });

  test('has every value of the file, in the words and formats of the language', () => {
    const text = withoutSpaces([pdf.text, ...pdf.alternatives].join('\n'));
    const missing = listValues(file, words).filter(
      ({ forms }) => !forms.some((form) => text.includes(withoutSpaces(form))),
    );
    expect(missing).toEqual([]);
  });

  test('has the title of every section', () => {
    const { labels } = words;
    for (const title of [
      labels.summary,
      labels.subject,
      labels.names,
      labels.addresses,
      labels.employments,
      labels.trades,
      labels.collections,
      labels.bankruptcies,
      labels.legalItems,
      labels.securedLoans,
      labels.localInquiries,
      labels.foreignInquiries,
      labels.consumerInquiries,
      labels.specialServices,
      labels.consumerStatements,
    ]) {
      expect(pdf.text).toContain(title);
    }
    expect(pdf.text).not.toContain(labels.nothingReported);
  });

  test('names subject, source, date and its number on every page, and says that it is confidential', () => {
    const date = formatsOf(words).dateOf(file, 'requestedDate');
    pdf.pages.forEach((page, index) => {
      expect(page).toContain(`${NAME} · ${words.labels.title}, Equifax · ${date}`);
      expect(page).toContain(words.labels.confidential.toUpperCase());
      expect(page.endsWith(words.pageOf(index + 1, pdf.pages.length))).toBe(true);
    });
  });

  test('says on its first page what differs from the applicant, and of a whole match nothing', async () => {
    const { LAST_NAME, DATE_OF_BIRTH_MISSING } = words.enumerations.difference;
    const line = words.partialMatch(`${LAST_NAME}, ${DATE_OF_BIRTH_MISSING}`);
    expect(withPlainSpaces(pdf.pages[0] ?? '')).toContain(withPlainSpaces(line));
    const { differences: _, ...whole } = file;
    const { text } = await readPdf(await drawCreditFile({ ...whole, matched: 'FULL' }));
    expect(withPlainSpaces(text)).not.toContain(
      withPlainSpaces(words.partialMatch('')).slice(0, 30),
    );
  });

  test('says on its first page how the file matches, what the bureau warns of, and what is not shown', () => {
    const { labels, enumerations, sections } = words;
    const page = withoutSpaces(pdf.pages[0] ?? '');
    for (const text of [
      `${labels.match} ${enumerations.matched.PARTIAL}`,
      'Regular hit',
      `${labels.warnings} • ${enumerations.warningSource.FRAUD}: POSSIBLE TRUE NAME FRAUD`,
      `• ${enumerations.warningSource.DATA}: CAUTION - INVALID BIRTHDATE/AGE`,
      `• ${labels.unpaidCollections}: 1`,
      `${sections.CNGarnishments} (1) · CNMarriages/CNMarriage (71)`,
    ]) {
      expect(page).toContain(withoutSpaces(text));
    }
    expect(page).not.toContain(withoutSpaces(labels.undischargedBankruptcies));
  });

  test('describes the payment profile of an account, and explains its signs above the accounts', () => {
    const profile = pdf.alternatives.find((text) => text.startsWith(words.labels.paymentProfile));
    const { PAID_AS_AGREED_AND_UP_TO_DATE: punctual } = words.shortPaymentRate;
    const { month } = formatsOf(words);
    expect(withoutSpaces(profile ?? '')).toContain(
      withoutSpaces(`${month('2026-08-01')} – ${month('2026-09-01')}: ${punctual};`),
    );
    const legend = withoutSpaces(`1 = ${punctual} ·`);
    expect(withoutSpaces(pdf.text)).toContain(legend);
    expect(withoutSpaces(pdf.text)).toContain(withoutSpaces(`– = ${words.labels.notRated}`));
  });

  test('has a month for a date of which the day is not known, and the day for another', () => {
    const { month } = formatsOf(words);
    expect(pdf.text).toContain(`${words.labels.fileSince} ${month('1998-03-01')} `);
    expect(pdf.text).toContain(month('2024-05-01'));
    expect(pdf.text).toContain(words === FRENCH ? '1er févr. 2015' : 'Feb 1, 2015');
  });

  test('tells readers its language and title, and names no person in its properties', () => {
    expect(pdf.properties).toMatchObject({
      Language: words.locale,
      Title: `${words.labels.title} · Equifax · 2026-11-15`,
      CreationDate: 'D:20261115000000Z',
    });
    expect(JSON.stringify(pdf.properties)).not.toMatch(/Lefebvre|286|3005551234/);
  });

  test('has tags for headings, tables and figures, and words for each figure', () => {
    expect(pdf.isTagged).toBe(true);
    const tags = new Set(pdf.tags.flat());
    const expected = ['H1', 'H2', 'H3', 'P', 'Table', 'TR', 'TH', 'TD', 'Figure'];
    expect(expected.filter((tag) => !tags.has(tag))).toEqual([]);
    expect(pdf.alternatives).toHaveLength(4);
    expect(pdf.alternatives[1]).toContain(words.shortPaymentRate.PAID_AS_AGREED_AND_UP_TO_DATE);
  });

  test('shows the last three digits of the social insurance number alone', () => {
    expect(pdf.text).toContain('***-***-286');
    expect(withoutSpaces(pdf.text)).not.toContain('046454286');
    expect(withoutSpaces(pdf.text)).not.toContain('454286');
  });
});

describe('a file as it was stored before a bureau was read for more', () => {
  const file: CreditFile = {
    ...{ source: 'TRANSUNION', id: '0198c0de-0000-7000-8000-000000004001', language: 'FR' },
    scores: [
      { number: 686, narratives: ['00002'], reasons: ['40', 'factor 27'], rejectCodes: ['I'] },
    ],
    trades: [
      {
        accountNumber: '450231000004471',
        creditor: { phoneNumber: '800555-0143' },
        dateOpened: '2017-10-01',
        previousHighPaymentRates: [{ date: '2026-08-01', rate: 'REPOSSESSION' }],
      },
    ],
    collections: [
      { creditor: { accountNumberAndOrName: 'TELCO 613555010' }, agencyAccountNumber: '77180' },
    ],
  };
  let text: string;
  beforeAll(async () => {
    text = withPlainSpaces((await readPdf(await drawCreditFile(file))).text);
  });

  test('has the dates that it has, and telephone numbers in groups', () => {
    expect(text).toContain('1er oct. 2017');
    expect(text).toContain('800-555-0143');
  });

  test('has no number of the platform in the place of that of the bureau', () => {
    expect(text).not.toContain('0198c0de');
    expect(text).toContain(`${FRENCH.labels.fileId} –`);
  });

  test('says of a code that it is one', () => {
    for (const words of ['Produit de pointage 00002', '• facteur 40', '• facteur 27', 'code I'])
      expect(text).toContain(words);
  });

  test('shows the last four digits of account numbers alone', () => {
    expect(text).toContain('***4471');
    expect(text).toContain('TELCO ***5010');
    expect(text).toContain('***7180');
    expect(text).not.toMatch(/450231|61355|77180/);
  });

  test('has nothing of what it lacks', () => {
    const { labels } = FRENCH;
    const absent = [
      labels.match,
      labels.alsoReported,
      labels.paymentProfile,
      labels.consumerInquiries,
    ];
    expect(absent.filter((label) => text.includes(label))).toEqual([]);
  });
});

test('an undischarged bankruptcy and a repossession are warnings', async () => {
  const file: CreditFile = {
    bankruptcies: [{ disposition: { type: 'UNDISCHARGED' } }],
    trades: [{ paymentRate: 'REPOSSESSION' }],
    warnings: [{ code: '4', source: 'DATA' }],
  };
  const { pages } = await readPdf(await drawCreditFile(file));
  const { labels } = ENGLISH;
  expect(pages[0]).toContain(
    `Warnings • Data: code 4 • ${labels.undischargedBankruptcies}: 1 • Repossessions: 1`,
  );
});

test('warnings that are longer than a page go on on the next page', async () => {
  const warnings = Array.from({ length: 90 }, (_, index) => ({
    ...{ source: 'MESSAGE' as const, text: `warning-${index + 1}` },
  }));
  const { text, pages } = await readPdf(await drawCreditFile({ warnings }));
  expect(pages.length).toBeGreaterThan(1);
  const printed = Array.from(text.matchAll(/warning-\d+/g), ([word]) => word);
  expect(printed).toEqual(warnings.map((warning) => warning.text));
});

test.each([
  ['JR', 'CARA WHOLE JR '],
  ['Combined files', 'CARA WHOLE (Combined files)'],
  ['XX', 'CARA WHOLE (code XX)'],
])(
  'a suffix of a name stands in parentheses if it is words or a code: %s',
  async (suffix, name) => {
    const subject = { firstName: 'CARA', lastName: 'WHOLE', suffix };
    const { pages } = await readPdf(await drawCreditFile({ subject }));
    expect(pages[0]).toContain(name);
  },
);

test('the same file gives the same bytes', async () => {
  const [first, second] = [await drawCreditFile(WHOLE_FILE), await drawCreditFile(WHOLE_FILE)];
  expect(Buffer.compare(first, second)).toBe(0);
});

describe('a file of 200 trades', () => {
  let pdf: ReadPdf;
  beforeAll(async () => {
    pdf = await readPdf(await drawCreditFile(fileWithTrades(200)));
  });

  test('has each trade once, in the order of the file', () => {
    const numbers = Array.from(pdf.text.matchAll(/\.\.\.T(\d+)\b/g), ([, number]) =>
      Number(number),
    );
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  });

  test('repeats the title and the header of the table on every page of trades', () => {
    const pages = pdf.pages.filter((page) => /\.\.\.T\d+\b/.test(page));
    expect(pages.length).toBeGreaterThan(10);
    const { labels } = ENGLISH;
    for (const page of pages) expect(page).toContain(`${labels.creditor} ${labels.accountNumber}`);
    for (const page of pages.slice(1)) expect(page).toContain(ENGLISH.continued(labels.trades));
  });

  test('has the number of each page and of all pages', () => {
    const ends = pdf.pages.map((page) => page.split(' ').slice(-3).join(' '));
    expect(ends).toEqual(pdf.pages.map((_, index) => `${index + 1} of ${pdf.pages.length}`));
  });
});

test.each([
  ['English', 'EN', ENGLISH],
  ['French', 'FR', FRENCH],
] as const)('no amount is broken over lines in %s', async (_, language, words) => {
  const amounts = [25_000, 250_000, 1_250_000, -1_250_000, 12_500_000, 999_999_999_999_999];
  const trades = (['USD', 'CAD'] as const).flatMap((currency) =>
    amounts.map((amount): Trade => {
      return {
        ...{ highCreditAmount: amount, balanceAmount: amount, pastDueAmount: amount },
        paymentTermAmount: amount,
        narratives: currency === 'USD' ? ['US_DOLLAR_ACCOUNT'] : [],
      };
    }),
  );
  const { text } = await readPdf(await drawCreditFile({ language, trades }));
  const { money } = formatsOf(words);
  const printed = withPlainSpaces(text);
  for (const currency of ['USD', 'CAD'] as const) {
    for (const amount of amounts) {
      const cell = withPlainSpaces(money(amount, currency));
      expect(printed).toContain(Array(4).fill(cell).join(' '));
    }
  }
});

describe('a file that leaves something out', () => {
  test('names the sections that have no entries', async () => {
    const { pages, text } = await readPdf(await drawCreditFile(NO_HIT_FILE));
    expect(pages).toHaveLength(1);
    expect(text).toContain('No file found');
    const { labels } = ENGLISH;
    expect(text).toContain(`${labels.nothingReported}: ${labels.trades} · ${labels.collections}`);
    expect(text).not.toContain(labels.totalBalance);
  });

  test('is drawn although it has no field at all', async () => {
    const { pages, properties } = await readPdf(await drawCreditFile({}));
    expect(pages[0]).toContain('Source unknown');
    expect(properties).toMatchObject({ Title: 'Credit file · Source unknown', Language: 'en-CA' });
  });

  test('is drawn although every entry is empty', async () => {
    const empty: CreditFile = {
      subject: { otherNames: [{}], addressHistory: [{}], employmentHistory: [{}] },
      bankruptcies: [{}],
      collections: [{}],
      legalItems: [{}],
      securedLoans: [{}],
      trades: [{ previousHighPaymentRates: [{}] }],
      localInquiries: [{}],
      foreignInquiries: [{}],
      specialServices: [{}],
      consumerStatements: [{}],
      scores: [{}],
    };
    const { text } = await readPdf(await drawCreditFile(empty));
    expect(text).not.toContain('undefined');
    expect(text).toContain('No rate reported');
  });
});

describe('hostile texts', () => {
  test('of a subject leave the page numbers where they are', async () => {
    const subject = {
      firstName: 'A'.repeat(3000),
      lastName: '\u0000\u202eשלום العربية 😀\ud800',
      sin: '<script>',
    };
    const { pages, text } = await readPdf(await drawCreditFile({ ...WHOLE_FILE, subject }));
    for (const page of pages) expect(page).toMatch(/AAA…/);
    expect(pages.at(-1)?.endsWith(`${pages.length} of ${pages.length}`)).toBe(true);
    expect(text).toContain('□');
    expect(text).not.toContain('\u202e');
  });

  test('that are longer than a page go on on the next pages, whole', async () => {
    const statement = Array.from({ length: 2500 }, (_, index) => `word${index}`).join(' ');
    const file = { consumerStatements: [{ statement }, { statement: 'the next one' }] };
    const { pages, text } = await readPdf(await drawCreditFile(file));
    expect(pages.length).toBeGreaterThan(3);
    const words = Array.from(text.matchAll(/\bword\d+/g), ([word]) => word);
    expect(words).toEqual(statement.split(' '));
    expect(text).toContain('the next one');
  });

  test('of any characters in any field are drawn on numbered pages', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom('__proto__', 'constructor', '2026-99-99', '%s', ')(\\', '\u0301'.repeat(500)),
    );
    const property = fc.asyncProperty(fc.infiniteStream(text), async (texts) => {
      const file = withTexts(WHOLE_FILE, () => String(texts.next().value)) as CreditFile;
      const { pages } = await readPdf(await drawCreditFile(file));
      expect(pages.at(-1)?.endsWith(`${pages.length} of ${pages.length}`)).toBe(true);
    });
    await fc.assert(property, { numRuns: 5 });
  });

  test('in place of dates and enumerations stand as they are', async () => {
    const trades = [{ dateOpened: '2026-13-45', paymentRate: 'NEW_RATE' }];
    const file = { requestedDate: '<b>&', hitType: 'NEW_HIT', trades } as unknown as CreditFile;
    const { text, properties } = await readPdf(await drawCreditFile(file));
    for (const value of ['2026-13-45', 'NEW_RATE', 'NEW_HIT', '<b>&'])
      expect(text).toContain(value);
    expect(properties).toMatchObject({ Title: 'Credit file · Source unknown' });
  });
});

/** The value with another text in the place of each. */
function withTexts(value: unknown, next: () => string): unknown {
  if (typeof value === 'string') return next();
  if (Array.isArray(value)) return value.map((item) => withTexts(item, next));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withTexts(item, next)]),
  );
}

/** Values that other tests look for, and codes beside which the file has words. */
const SHOWN_OTHERWISE =
  /^language$|^subject\.sin$|datesWithoutDay|rejectCodes|\.code$|paymentProfile\.\d+\.month$|^collections\.0\..*ccountNumber/;

/** What a document may print for each value of a file, with the value's path. */
function listValues(
  value: unknown,
  words: Words,
  path: string[] = [],
): { path: string; forms: string[] }[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, item]) => listValues(item, words, [...path, key]));
  }
  const name = path.join('.');
  if (SHOWN_OTHERWISE.test(name)) return [];
  return [{ path: name, forms: formsOf(value, words) }];
}

function formsOf(value: unknown, words: Words): string[] {
  const formats = formatsOf(words);
  if (typeof value === 'number') return [formats.money(value), formats.number(value)];
  const text = String(value);
  if (/^\d{4}-\d{2}-\d{2}$/.test(text))
    return [formats.dateOf({ text }, 'text') ?? '', formats.month(text)];
  const enumerated = [...Object.values(words.enumerations), words.shortPaymentRate]
    .map((group: Record<string, string>) => group[text])
    .filter((word) => word !== undefined);
  const section = (words.sections as Record<string, string>)[text];
  return enumerated.length > 0 ? enumerated : [section ?? text];
}

/** The text with a space in the place of each no-break space. */
function withPlainSpaces(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

function withoutSpaces(text: string): string {
  return text.replaceAll(/\s/g, '');
}
