import { create } from '@bufbuild/protobuf';
import { ApplicantSchema } from '@creditlane/proto/applications/v1/application';
import { expect, test } from 'vitest';
import { inquiryOf } from './inquiry-subject.ts';

test.each(['CURRENT', 'Current', ' current '])(
  'a bureau is asked for the address of type "%s" first, and for former ones after it',
  (addressType) => {
    const applicant = create(ApplicantSchema, {
      addressHistory: [
        { addressType: 'PREVIOUS', city: 'Laval' },
        { addressType: '', city: 'Hull' },
        { addressType, city: 'Ottawa' },
      ],
    });
    const { addresses } = inquiryOf('reference', applicant).subject;
    expect(addresses.map(({ city }) => city)).toEqual(['Ottawa', 'Laval', 'Hull']);
  },
);

test.each([
  ['K1A 0B1', 'K1A0B1'],
  ['k1a-0b1', 'K1A0B1'],
  ['902 10', '90210'],
])(
  'a bureau gets the postal code %s in capitals and without a space or dash, and what is none without spaces',
  (stored, sent) => {
    const applicant = create(ApplicantSchema, { addressHistory: [{ postalCode: stored }] });
    const { addresses } = inquiryOf('reference', applicant).subject;
    expect(addresses.map(({ postalCode }) => postalCode)).toEqual([sent]);
  },
);

test.each([
  [{ apartmentSuite: ' 4B ' }, { streetName: 'Birch ST', suite: '4B' }],
  [{ pOBoxNumber: '120' }, { streetName: 'Birch ST', suite: 'PO BOX 120' }],
  [
    { apartmentSuite: '4B', pOBoxNumber: 'CP 120' },
    { streetName: 'Birch ST', suite: '4B, CP 120' },
  ],
  [
    { pOBoxNumber: '120', streetName: '', streetType: '' },
    { streetName: 'PO BOX 120', suite: '' },
  ],
  [{}, { streetName: 'Birch ST', suite: '' }],
])('a bureau gets the apartment and the post-office box of %j', (change, expected) => {
  const address = { streetName: 'Birch', streetType: 'ST', ...change };
  const applicant = create(ApplicantSchema, { addressHistory: [address] });
  expect(inquiryOf('reference', applicant).subject.addresses).toMatchObject([expected]);
});
