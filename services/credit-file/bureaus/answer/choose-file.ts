/** Decides which of an answer's reports is the file of the person who was asked about. */
import type { CreditFile } from '../../credit-file.ts';
import type { BureauAnswer, FileMatch, Inquiry, UnknownCode } from '../bureau.ts';
import { type Difference, matchSubject, type Person, type SubjectMatch } from './match-subject.ts';

/** A report as a format has read it. */
export interface ReadReport {
  readonly file: CreditFile;
  readonly unknownCodes: readonly UnknownCode[];
  /** The person of the file. The date of birth is yyyy-MM where the report gives no day. */
  readonly subject: Person;
  /** The reference of the inquiry as the bureau repeats it. */
  readonly reference: string | undefined;
  /** What else it repeats of the request that is not what was sent. */
  readonly doubts?: readonly Difference[];
}

const FOREIGN: BureauAnswer = { kind: 'foreign' };

/**
 * The first hit that is wholly about the person of the inquiry (`matchSubject`), or else the first one that is in part; of
 * reports of which none is a hit, the first that may be about the person. Foreign when each is about somebody else, and when
 * hits that match in part are about several persons: nothing tells whose the file is.
 */
export function chooseFile(reports: readonly ReadReport[], inquiry: Inquiry): BureauAnswer {
  const own = reports.flatMap((report) => {
    const match = matchReport(report, inquiry);
    return match.kind === 'OTHER' ? [] : [{ report, match }];
  });
  if (!reports.some(isHit)) return answerWith(own[0]);
  const hits = own.filter(({ report }) => isHit(report));
  const whole = hits.find(({ match }) => match.kind === 'FULL');
  if (whole !== undefined) return answerWith(whole);
  const [first, ...others] = hits;
  const areOfSeveral = others.some(({ report }) => first && areOtherPersons(first.report, report));
  return areOfSeveral ? FOREIGN : answerWith(first);
}

function answerWith(chosen: { report: ReadReport; match: FileMatch } | undefined): BureauAnswer {
  if (chosen === undefined) return FOREIGN;
  const { file, unknownCodes } = chosen.report;
  const answer: BureauAnswer = { kind: 'file', file, unknownCodes };
  return file.hitType === 'NO_HIT' ? answer : { ...answer, match: chosen.match };
}

function isHit({ file }: ReadReport): boolean {
  return file.hitType === 'HIT';
}

function matchReport(report: ReadReport, { reference, subject }: Inquiry): SubjectMatch {
  if (isOtherReference(reference, report.reference)) return { kind: 'OTHER' };
  const match = matchSubject(subject, report.subject);
  const differences = match.kind === 'PARTIAL' ? match.differences : [];
  const [first, ...others] = [...differences, ...(report.doubts ?? [])];
  if (match.kind === 'OTHER' || first === undefined) return match;
  return { kind: 'PARTIAL', differences: [first, ...others] };
}

/** A bureau may keep the beginning or the end of a long reference only, in capitals and without its hyphens. */
function isOtherReference(sent: string, repeated = ''): boolean {
  const [one, other] = [sent, repeated].map((it) => it.replace(/[^a-z\d]/gi, '').toUpperCase());
  if (!one || !other) return false;
  return !one.startsWith(other) && !one.endsWith(other);
}

function areOtherPersons({ subject: one }: ReadReport, { subject: other }: ReadReport): boolean {
  return matchSubject(one, other).kind === 'OTHER' && matchSubject(other, one).kind === 'OTHER';
}
