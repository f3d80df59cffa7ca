/** Personas whose file is found. */
import type { CreditFile } from '../credit-file.ts';
import { makeEmptyFile, makeHitFile, makeStrangersFile } from './files/file.ts';
import {
  BANKRUPTCIES,
  COLLECTIONS,
  CONSUMER_STATEMENTS,
  EMPLOYMENTS,
  FOREIGN_INQUIRIES,
  FORMER_ADDRESSES,
  LEGAL_ITEMS,
  LOCAL_INQUIRIES,
  OTHER_NAMES,
  SECURED_LOANS,
  SPECIAL_SERVICES,
  scoreOf,
} from './files/sections.ts';
import { CARD, LATE_TRADES, makeManyTrades, TRADES } from './files/trades.ts';
import type { ReceivedInquiry } from './inquiry.ts';
import { EQUIFAX, type MakeFiles, type Persona, TRANSUNION, withFile } from './persona.ts';

const THICK_TRADES = 200;
/** Longer than callers usually wait for a page, shorter than any deadline of a bureau. */
const SLOW_MS = 3_000;

/** A file of a known person with these records, and of the person more than name and address. */
function withRecords(records: Partial<CreditFile>, subject: CreditFile['subject'] = {}): MakeFiles {
  return (inquiry) => {
    const file = makeHitFile(inquiry);
    return [{ ...file, ...records, subject: { ...file.subject, ...subject } }];
  };
}

function makeCompleteFile(inquiry: ReceivedInquiry): CreditFile {
  const { subject, ...file } = makeHitFile(inquiry);
  return {
    ...file,
    subject: {
      ...subject,
      middleName: 'Josephine',
      suffix: 'SR',
      otherNames: OTHER_NAMES,
      addressHistory: [...(subject?.addressHistory ?? []), ...FORMER_ADDRESSES],
      employmentHistory: EMPLOYMENTS,
    },
    bankruptcies: BANKRUPTCIES,
    collections: COLLECTIONS,
    legalItems: LEGAL_ITEMS,
    securedLoans: SECURED_LOANS,
    trades: [...TRADES, ...LATE_TRADES],
    localInquiries: LOCAL_INQUIRIES,
    foreignInquiries: FOREIGN_INQUIRIES,
    specialServices: SPECIAL_SERVICES,
    consumerStatements: CONSUMER_STATEMENTS,
    scores: [scoreOf(inquiry.source, 686)],
  };
}

export const HIT_PERSONAS: readonly Persona[] = [
  withFile(
    {
      firstName: 'Carla',
      lastName: 'Complete',
      about: 'a file with every section that the format has',
    },
    (inquiry) => [makeCompleteFile(inquiry)],
  ),
  withFile(
    { firstName: 'Theo', lastName: 'Thin', about: 'a new file with one trade' },
    (inquiry) => [
      {
        ...makeHitFile(inquiry),
        fileSinceDate: '2025-12-01',
        trades: [
          {
            ...CARD,
            dateOpened: '2025-12-08',
            monthsReviewed: 2,
            balanceAmount: 0,
            paymentRate: 'TOO_NEW_TO_RATE',
          },
        ],
      },
    ],
  ),
  withFile({ firstName: 'Thea', lastName: 'Thick', about: 'a file with 200 trades' }, (inquiry) => [
    {
      ...makeCompleteFile(inquiry),
      trades: makeManyTrades(THICK_TRADES),
    },
  ]),
  withFile(
    {
      sources: EQUIFAX,
      firstName: 'Zoë',
      lastName: 'Québécois',
      about: 'a file in French, with accents in names and texts',
    },
    (inquiry) => [
      {
        ...makeHitFile(inquiry),
        language: 'FR',
        bureau: { id: '514', name: 'BUREAU DE CRÉDIT MONTRÉAL' },
        trades: [{ ...CARD, creditor: { id: '514BB00100', name: 'CAISSE DES ÉRABLES' } }],
        consumerStatements: [
          {
            dateReported: '2025-09-01',
            statement: 'Mon prénom s’écrit « Zoë » ; vérifiez l’adresse à Trois-Rivières.',
          },
        ],
        scores: [scoreOf(inquiry.source, 702)],
      },
    ],
  ),
  withFile(
    {
      sources: EQUIFAX,
      firstName: 'Tara',
      lastName: 'Tworeports',
      about: 'two reports in one answer; the second is the hit',
    },
    (inquiry) => [
      { ...makeEmptyFile(inquiry, 'REFERRED_FILE'), id: '0000000001' },
      { ...makeHitFile(inquiry), trades: [CARD] },
    ],
  ),
  withFile(
    {
      sources: EQUIFAX,
      firstName: 'Toby',
      lastName: 'Twopersons',
      about: 'hits of two persons in one answer; the second is the one who was asked about',
    },
    (inquiry) => [makeStrangersFile(inquiry), { ...makeHitFile(inquiry), trades: [CARD] }],
  ),
  withFile(
    {
      firstName: 'Ulla',
      lastName: 'Undated',
      about: 'a file without date of birth and social insurance number, which matches in part only',
    },
    (inquiry) => {
      const { subject, ...file } = makeHitFile(inquiry);
      const { sin: _sin, dateOfBirth: _date, ...others } = subject ?? {};
      return [{ ...file, subject: others, trades: [CARD] }];
    },
  ),
  withFile(
    {
      firstName: 'Sonia',
      lastName: 'Someoneelse',
      about: 'the file of another person',
      hitType: null,
      outcome: 'failed',
    },
    (inquiry) => [makeStrangersFile(inquiry)],
  ),
  withFile(
    { sources: EQUIFAX, firstName: 'Bruno', lastName: 'Bankrupt', about: 'bankruptcies' },
    withRecords({ bankruptcies: BANKRUPTCIES, trades: LATE_TRADES.slice(0, 3) }),
  ),
  withFile(
    {
      firstName: 'Colin',
      lastName: 'Collections',
      about: 'a paid and an unpaid collection',
    },
    withRecords({ collections: COLLECTIONS }),
  ),
  withFile(
    { sources: EQUIFAX, firstName: 'Lena', lastName: 'Legal', about: 'judgments' },
    withRecords({ legalItems: LEGAL_ITEMS }),
  ),
  withFile(
    { sources: EQUIFAX, firstName: 'Sam', lastName: 'Secured', about: 'a registered loan' },
    withRecords({ securedLoans: SECURED_LOANS }),
  ),
  withFile(
    {
      firstName: 'Lars',
      lastName: 'Late',
      about: 'trades of every rate, and earlier rates',
    },
    withRecords({ trades: [...LATE_TRADES] }),
  ),
  withFile(
    {
      sources: EQUIFAX,
      firstName: 'Alma',
      lastName: 'Alert',
      about: 'special services: a stolen wallet',
    },
    withRecords({ specialServices: SPECIAL_SERVICES }),
  ),
  withFile(
    {
      sources: EQUIFAX,
      firstName: 'Stella',
      lastName: 'Statement',
      about: 'a statement of the consumer',
    },
    withRecords({ consumerStatements: CONSUMER_STATEMENTS }),
  ),
  withFile(
    {
      sources: EQUIFAX,
      firstName: 'Farah',
      lastName: 'Foreign',
      about: 'inquiries of foreign members',
    },
    withRecords({
      foreignInquiries: FOREIGN_INQUIRIES,
      localInquiries: LOCAL_INQUIRIES,
    }),
  ),
  withFile(
    {
      sources: EQUIFAX,
      firstName: 'Nadia',
      lastName: 'Names',
      about: 'other names, addresses and employments',
    },
    withRecords(
      {},
      {
        middleName: 'May',
        suffix: 'JR',
        otherNames: OTHER_NAMES,
        addressHistory: FORMER_ADDRESSES,
        employmentHistory: EMPLOYMENTS,
      },
    ),
  ),
  withFile(
    { sources: EQUIFAX, firstName: 'Dora', lastName: 'Deceased', about: 'a date of death' },
    withRecords({}, { dateOfDeath: '2025-04-17' }),
  ),
  withFile(
    {
      firstName: 'High',
      lastName: 'Score',
      isByFirstName: true,
      about: 'a score of 852',
    },
    (inquiry) => [{ ...makeHitFile(inquiry), scores: [scoreOf(inquiry.source, 852)] }],
  ),
  withFile(
    {
      firstName: 'Low',
      lastName: 'Score',
      isByFirstName: true,
      about: 'a score of 431',
    },
    (inquiry) => [{ ...makeHitFile(inquiry), scores: [scoreOf(inquiry.source, 431)] }],
  ),
  withFile(
    {
      sources: EQUIFAX,
      firstName: 'Reject',
      lastName: 'Score',
      isByFirstName: true,
      about: 'no score, with the reject code in its place',
    },
    withRecords({ scores: [{ rejectCodes: ['P'] }] }),
  ),
  withFile(
    {
      firstName: 'Uma',
      lastName: 'Unknowncode',
      about: 'codes that no table has: the values are left out',
    },
    withRecords({ trades: [...TRADES] }),
    {
      alter: (xml) =>
        xml
          .replace('<Association code="I"', '<Association code="ZZ"')
          .replace('description="Individual"', 'description="Unheard of"')
          .replace('code="EX" description="Monthly payments"', 'code="ZZ" description="Lunar"')
          .replace('<MOP>01</MOP>', '<MOP>66</MOP>')
          .replace('<Type>R</Type>', '<Type>Z</Type>'),
    },
  ),
  withFile(
    {
      sources: TRANSUNION,
      firstName: 'Rhea',
      lastName: 'Root',
      about: 'an answer whose root is REL4Report, without a SOAP envelope',
    },
    withRecords({ trades: [CARD] }),
    { isBare: true },
  ),
  withFile(
    { firstName: 'Sloane', lastName: 'Slow', about: 'a file after 3 seconds', outcome: 'slow' },
    withRecords({ trades: [CARD] }),
    { delayMs: SLOW_MS },
  ),
];
