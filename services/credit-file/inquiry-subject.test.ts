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

test('a bureau gets a postal code in capitals and without a space', () => {
  const applicant = create(ApplicantSchema, { addressHistory: [{ postalCode: 'k1a 0b1' }] });
  const { addresses } = inquiryOf('reference', applicant).subject;
  expect(addresses.map(({ postalCode }) => postalCode)).toEqual(['K1A0B1']);
});
