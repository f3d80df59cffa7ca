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

/** The file of a person whom nobody has asked about. */
export function makeStrangersFile(inquiry: ReceivedInquiry): CreditFile {
  return {
    ...makeHitFile(inquiry),
    id: '0009915773',
    subject: {
      firstName: 'Xavier',
      lastName: 'Stranger',
      // Of a series that is never issued, with a check digit.
      sin: '000000018',
      dateOfBirth: '1951-01-02',
      addressHistory: [
        {
          ...{ dateReported: '2023-05-01', streetNo: '9', streetName: 'ELM ST', city: 'REGINA' },
          ...{ province: 'SK', postalCode: 'S4P3Y2' },
        },
      ],
    },
    consumerStatements: [{ statement: 'This statement is of Xavier Stranger.' }],
  };
}

function currentAddress({ address }: ReceivedInquiry): Address {
  const given = Object.entries(address).filter(([, value]) => value !== '');
  // A province that no bureau has is repeated, too: the reader of the answer has to leave it out.
  return { dateReported: '2024-01-01', ...(Object.fromEntries(given) as Address) };
}
