/** For the tests: a running service with an applicant in each test, and what is stored about one. */
import { KeyRing } from '@creditlane/crypto/key-ring';
import { expect } from 'vitest';
import type { AuditActor } from '../audit/audit-record.ts';
import type { TestSubject } from '../test-applications.ts';
import {
  asPlatform,
  KEYS,
  readEnded,
  request,
  type TestApplicant,
  useApplicant,
} from '../test-credit-file.ts';
import { eraseCreditFiles } from './erase-applicant.ts';

export const RING = KeyRing.parse(KEYS);
export const OPERATOR: AuditActor = { kind: 'platform', id: 'platform-key' };
export const NOT_REQUESTED = { code: 'credit_file_not_requested' };

export const keyOf = ({ applicationId, applicantId }: TestApplicant) =>
  `${applicationId} ${applicantId}`;

export function useErasures() {
  const fixture = useApplicant();
  const pool = () => fixture.service.sql;

  return {
    fixture,
    pool,

    /** Erases by the contract, as the administration does. */
    async eraseByCall({ applicantId, retailerId }: TestApplicant): Promise<void> {
      const request = { applicantId: applicantId.toUpperCase(), retailerId };
      await fixture.service.client.eraseApplicant(request, asPlatform());
    },

    /** Erases beside the service, which finishes what was begun. */
    erase({ applicantId, retailerId }: TestApplicant) {
      const deps = { pool: pool(), keyRing: RING, clock: () => new Date() };
      const eraser = { actor: OPERATOR, requestId: 'erasure-1' };
      return eraseCreditFiles(deps, { applicantId, retailerId }, eraser);
    },

    /** Waits until no erasure is unfinished. */
    async erasuresEnded(): Promise<void> {
      const unfinished = 'SELECT FROM applicant_erasures WHERE outcome IS NULL';
      await expect.poll(async () => (await pool().query(unfinished)).rowCount).toBe(0);
    },

    /** What the applications service holds of the applicant. */
    subjectOf(applicant: TestApplicant): TestSubject | undefined {
      return fixture.service.applications.subjects.get(keyOf(applicant));
    },

    /** The audit log's records of the applicant, with their outcomes. */
    async actionsOf({ applicantId }: TestApplicant): Promise<string[]> {
      const { rows } = await pool().query(
        'SELECT action, outcome FROM audit_records WHERE applicant_id = $1 ORDER BY seq',
        [applicantId],
      );
      return rows.map(({ action, outcome }) =>
        outcome === null ? action : `${action} ${outcome}`,
      );
    },

    async pull(applicant: TestApplicant) {
      await request(fixture.service, applicant);
      return readEnded(fixture.service, applicant);
    },
  };
}
