/** Personas whose file is found. */
import type { CreditFile } from '../credit-file.ts';
import { makeEmptyFile, makeHitFile } from './files/file.ts';
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
import { BOTH, type Persona, withFile } from './persona.ts';

const THICK_TRADES = 200;
/** Longer than callers usually wait for a page, shorter than any deadline of a bureau. */
const SLOW_MS = 3_000;

/** A file of a known person with these records, and of the person more than name and address. */
function withRecords(
  records: Partial<CreditFile>,
  subject: CreditFile['subject'] = {},
): (inquiry: ReceivedInquiry) => CreditFile {
  return (inquiry) => {
    const file = makeHitFile(inquiry);
    return { ...file, ...records, subject: { ...file.subject, ...subject } };
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
      otherNames: OTHER_NAMES ?? [],
      addressHistory: [...(subject?.addressHistory ?? []), ...(FORMER_ADDRESSES ?? [])],
      employmentHistory: EMPLOYMENTS ?? [],
    },
    bankruptcies: BANKRUPTCIES ?? [],
    collections: COLLECTIONS ?? [],
    legalItems: LEGAL_ITEMS ?? [],
    securedLoans: SECURED_LOANS ?? [],
    trades: [...TRADES, ...LATE_TRADES],
    localInquiries: LOCAL_INQUIRIES ?? [],
    foreignInquiries: FOREIGN_INQUIRIES ?? [],
    specialServices: SPECIAL_SERVICES ?? [],
    consumerStatements: CONSUMER_STATEMENTS ?? [],
    scores: [scoreOf(inquiry.source, 686)],
  };
}

export const HIT_PERSONAS: readonly Persona[] = [
  withFile(
    {
      sources: BOTH,
      firstName: 'Carla',
      lastName: 'Complete',
      about: 'a file with every section that the format has',
    },
    makeCompleteFile,
  ),
  withFile(
    { sources: BOTH, firstName: 'Theo', lastName: 'Thin', about: 'a new file with one trade' },
    (inquiry) => ({
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
    }),
  ),
  withFile(
    { sources: BOTH, firstName: 'Thea', lastName: 'Thick', about: 'a file with 200 trades' },
    (inquiry) => ({
      ...makeCompleteFile(inquiry),
      trades: makeManyTrades(THICK_TRADES),
    }),
  ),
  withFile(
    {
      firstName: 'Zoë',
      lastName: 'Québécois',
      about: 'a file in French, with accents in names and texts',
    },
    (inquiry) => ({
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
    }),
  ),
  {
    sources: ['EQUIFAX'],
    firstName: 'Tara',
    lastName: 'Tworeports',
    about: 'two reports in one answer; the second is the hit',
    hitType: 'HIT',
    outcome: 'complete',
    behaviour: {
      kind: 'file',
      makeFiles: (inquiry) => [
        { ...makeEmptyFile(inquiry, 'REFERRED_FILE'), id: '0000000001' },
        { ...makeHitFile(inquiry), trades: [CARD] },
      ],
    },
  },
  withFile(
    { firstName: 'Bruno', lastName: 'Bankrupt', about: 'bankruptcies' },
    withRecords({ bankruptcies: BANKRUPTCIES ?? [], trades: LATE_TRADES.slice(0, 3) }),
  ),
  withFile(
    {
      sources: BOTH,
      firstName: 'Colin',
      lastName: 'Collections',
      about: 'a paid and an unpaid collection',
    },
    withRecords({ collections: COLLECTIONS ?? [] }),
  ),
  withFile(
    { firstName: 'Lena', lastName: 'Legal', about: 'judgments' },
    withRecords({ legalItems: LEGAL_ITEMS ?? [] }),
  ),
  withFile(
    { firstName: 'Sam', lastName: 'Secured', about: 'a registered loan' },
    withRecords({ securedLoans: SECURED_LOANS ?? [] }),
  ),
  withFile(
    {
      sources: BOTH,
      firstName: 'Lars',
      lastName: 'Late',
      about: 'trades of every rate, and earlier rates',
    },
    withRecords({ trades: [...LATE_TRADES] }),
  ),
  withFile(
    { firstName: 'Alma', lastName: 'Alert', about: 'special services: a stolen wallet' },
    withRecords({ specialServices: SPECIAL_SERVICES ?? [] }),
  ),
  withFile(
    { firstName: 'Stella', lastName: 'Statement', about: 'a statement of the consumer' },
    withRecords({ consumerStatements: CONSUMER_STATEMENTS ?? [] }),
  ),
  withFile(
    { firstName: 'Farah', lastName: 'Foreign', about: 'inquiries of foreign members' },
    withRecords({
      foreignInquiries: FOREIGN_INQUIRIES ?? [],
      localInquiries: LOCAL_INQUIRIES ?? [],
    }),
  ),
  withFile(
    { firstName: 'Nadia', lastName: 'Names', about: 'other names, addresses and employments' },
    withRecords(
      {},
      {
        middleName: 'May',
        suffix: 'JR',
        otherNames: OTHER_NAMES ?? [],
        addressHistory: FORMER_ADDRESSES ?? [],
        employmentHistory: EMPLOYMENTS ?? [],
      },
    ),
  ),
  withFile(
    { firstName: 'Dora', lastName: 'Deceased', about: 'a date of death' },
    withRecords({}, { dateOfDeath: '2025-04-17' }),
  ),
  withFile(
    {
      sources: BOTH,
      firstName: 'High',
      lastName: 'Score',
      isByFirstName: true,
      about: 'a score of 852',
    },
    (inquiry) => ({ ...makeHitFile(inquiry), scores: [scoreOf(inquiry.source, 852)] }),
  ),
  withFile(
    {
      sources: BOTH,
      firstName: 'Low',
      lastName: 'Score',
      isByFirstName: true,
      about: 'a score of 431',
    },
    (inquiry) => ({ ...makeHitFile(inquiry), scores: [scoreOf(inquiry.source, 431)] }),
  ),
  withFile(
    {
      firstName: 'Reject',
      lastName: 'Score',
      isByFirstName: true,
      about: 'no score, with the reject code in its place',
    },
    withRecords({ scores: [{ rejectCodes: ['P'] }] }),
  ),
  {
    sources: BOTH,
    firstName: 'Uma',
    lastName: 'Unknowncode',
    about: 'codes that no table has: the values are left out',
    hitType: 'HIT',
    outcome: 'complete',
    behaviour: {
      kind: 'file',
      makeFiles: (inquiry) => [{ ...makeHitFile(inquiry), trades: [...TRADES] }],
      alter: (xml) =>
        xml
          .replace('<Association code="I"', '<Association code="ZZ"')
          .replace('description="Individual"', 'description="Unheard of"')
          .replace('code="EX" description="Monthly payments"', 'code="ZZ" description="Lunar"')
          .replace('<MOP>01</MOP>', '<MOP>66</MOP>')
          .replace('<Type>R</Type>', '<Type>Z</Type>'),
    },
  },
  {
    sources: ['TRANSUNION'],
    firstName: 'Rhea',
    lastName: 'Root',
    about: 'an answer whose root is REL4Report, without a SOAP envelope',
    hitType: 'HIT',
    outcome: 'complete',
    behaviour: {
      kind: 'file',
      makeFiles: (inquiry) => [{ ...makeHitFile(inquiry), trades: [CARD] }],
      isBare: true,
    },
  },
  {
    sources: BOTH,
    firstName: 'Sloane',
    lastName: 'Slow',
    about: 'a file after 3 seconds',
    hitType: 'HIT',
    outcome: 'slow',
    behaviour: {
      kind: 'file',
      makeFiles: (inquiry) => [{ ...makeHitFile(inquiry), trades: [CARD] }],
      delayMs: SLOW_MS,
    },
  },
];
