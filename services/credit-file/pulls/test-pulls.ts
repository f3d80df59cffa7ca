/** For the tests of pulls: a running service with an applicant in each test, and how a pull stands. */
import type { InquiryOutcome, NeverSentReason } from '../bureaus/transport/inquiry-outcome.ts';
import { fileAnswer } from '../test-bureau.ts';
import { useApplicant } from '../test-credit-file.ts';

export const neverSent = (reason: NeverSentReason = 'connection_refused') =>
  ({ kind: 'never_sent', reason }) as const;

export function usePulls() {
  const fixture = useApplicant();
  return {
    fixture,
    inquiries: () => fixture.service.bureau.inquiries,

    /** The bureau answers with these outcomes in turn, and then with a file. */
    answerWith(...outcomes: InquiryOutcome[]): void {
      fixture.service.bureau.answer = async () => outcomes.shift() ?? fileAnswer();
    },

    async stateOf(id: string) {
      const { rows } = await fixture.service.sql.query(
        'SELECT state, failure, fence, attempts, sent_at, finished_at FROM pulls WHERE id = $1',
        [id],
      );
      return rows[0];
    },
  };
}
