/** What every file of the simulator has: the person and the member of the inquiry. */
import type { CreditFile, Subject } from '../../credit-file.ts';
import type { ReceivedInquiry } from '../inquiry.ts';

type Address = NonNullable<Subject['addressHistory']>[number];

/** The file without records: who was asked about, by whom and when. */
export function makeEmptyFile(
  inquiry: ReceivedInquiry,
  hitType: NonNullable<CreditFile['hitType']>,
): CreditFile {
  const { firstName, lastName, sin, dateOfBirth } = inquiry;
  return {
    customerNumber: inquiry.member,
    language: 'EN',
    requestedDate: inquiry.date,
    hitType,
    subject: {
      firstName,
      lastName,
      ...(sin !== '' && { sin }),
      ...(dateOfBirth !== '' && { dateOfBirth }),
    },
  };
}

/** The file of a person whom the bureau knows at the address of the inquiry. */
export function makeHitFile(inquiry: ReceivedInquiry): CreditFile {
  const empty = makeEmptyFile(inquiry, 'HIT');
  return {
    ...empty,
    id: '0148812207',
    fileSinceDate: '2009-05-11',
    lastActivityDate: '2026-02-14',
    bureau: { id: '481', name: 'CREDIT BUREAU OF CANADA TORONTO' },
    subject: { ...empty.subject, addressHistory: [currentAddress(inquiry)] },
  };
}

function currentAddress({ address }: ReceivedInquiry): Address {
  const given = Object.entries(address).filter(([, value]) => value !== '');
  // A province that no bureau has is repeated, too: the reader of the answer has to leave it out.
  return { dateReported: '2024-01-01', ...(Object.fromEntries(given) as Address) };
}
