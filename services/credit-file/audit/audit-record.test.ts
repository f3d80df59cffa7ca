import { expect, test } from 'vitest';
import { type AuditRecord, canonicalContent, hashOf, NO_HASH } from './audit-record.ts';

const WHOLE: AuditRecord = {
  retailerId: 'retailer',
  at: new Date('2026-03-01T09:30:00.007Z'),
  action: 'FILE_READ',
  actor: { kind: 'integration', id: 'integration' },
  requestId: 'request',
  purpose: 'CREDIT_APPLICATION',
  applicationId: 'application',
  applicantId: 'applicant',
  pullId: 'pull',
  fileId: 'file',
  consentId: 'consent',
  source: 'EQUIFAX',
  outcome: 'COMPLETE',
};
const { retailerId, at, action, actor } = WHOLE;

// Every chain that is stored was hashed from these texts: other texts for the same records would break all of them.
test.each([
  {
    name: 'with all fields',
    record: WHOLE,
    text: '["audit record 1","retailer",7,"2026-03-01T09:30:00.007Z","FILE_READ","integration","integration","request","CREDIT_APPLICATION","application","applicant","pull","file","consent","EQUIFAX","COMPLETE"]',
    hash: '49fc23201707359de3fc0a5c567df157f945e02d33846d5dcb79f3dfea68b939',
  },
  {
    name: 'without what it may lack',
    record: { retailerId, at, action, actor },
    text: '["audit record 1","retailer",7,"2026-03-01T09:30:00.007Z","FILE_READ","integration","integration",null,null,null,null,null,null,null,null,null]',
    hash: 'cadd39ca73f68e850e5241f17bca4fa22b9286decb43ce9163eda284ccd723a4',
  },
  {
    name: 'of a request for another retailer of the group',
    record: { ...WHOLE, retailerContext: 'other' },
    text: '["audit record 2","retailer","other",7,"2026-03-01T09:30:00.007Z","FILE_READ","integration","integration","request","CREDIT_APPLICATION","application","applicant","pull","file","consent","EQUIFAX","COMPLETE"]',
    hash: '9b73e35fb88704a1c9512be8f2286925557d3f31cb427a17c19463ee74aabfcb',
  },
])('a record $name is hashed from the same text in every version', ({ record, text, hash }) => {
  expect(canonicalContent(7, record)).toBe(text);
  expect(hashOf(NO_HASH, 7, record).toString('hex')).toBe(hash);
});
