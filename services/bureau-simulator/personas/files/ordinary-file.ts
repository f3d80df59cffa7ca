/** The file of a person who is no persona: an ordinary one, always the same for the same name. */
import { createHash } from 'node:crypto';
import type { CreditFile, Trade } from '../../credit-file.ts';
import type { ReceivedInquiry } from '../inquiry.ts';
import { makeHitFile } from './file.ts';
import { EMPLOYMENTS, LOCAL_INQUIRIES, scoreOf } from './sections.ts';
import { TRADES } from './trades.ts';

const LOWEST_SCORE = 560;
const SCORES_BETWEEN = 290;

/** A file with one to six trades and a score, which the name alone decides. */
export function makeOrdinaryFile(inquiry: ReceivedInquiry): CreditFile {
  const name = `${inquiry.firstName} ${inquiry.lastName}`.normalize('NFC').toLowerCase();
  const digest = createHash('sha256').update(name).digest();
  const draw = (index: number, limit: number) => digest.readUInt16BE(2 * index) % limit;

  const file = makeHitFile(inquiry);
  const trades = TRADES.slice(0, 1 + draw(0, TRADES.length)).map(
    (trade, index): Trade => ({
      ...trade,
      accountNumber: `${digest.toString('hex', index, index + 4).toUpperCase()}`,
      balanceAmount: draw(index + 1, (trade.highCreditAmount ?? 0) + 1),
    }),
  );
  return {
    ...file,
    id: String(digest.readUInt32BE(16)).padStart(10, '0'),
    subject: { ...file.subject, employmentHistory: EMPLOYMENTS.slice(0, 1) },
    trades,
    localInquiries: LOCAL_INQUIRIES.slice(0, draw(8, 3)),
    scores: [scoreOf(inquiry.source, LOWEST_SCORE + draw(9, SCORES_BETWEEN))],
  };
}
