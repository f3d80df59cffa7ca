/**
 * Whether applicants get data keys of their own. The version before reads no applicant who has one. So keys are used
 * from the start where one start has run all migrations, and elsewhere once the operator says that no replica of that
 * version is left.
 */
import type { Database } from '@creditlane/postgres/database';
import { isFloorRaised, raiseFloor } from '@creditlane/postgres/raise-floor';
import { applicantKeys1765000000000 } from '../migrations/0010-applicant-keys.ts';

export class KeyUse {
  readonly #pool: Database['pool'];
  #hasBegun = false;

  constructor(pool: Database['pool']) {
    this.#pool = pool;
  }

  /** Never false again after it was true; asks the database until then. */
  async hasBegun(): Promise<boolean> {
    this.#hasBegun ||= await isFloorRaised(this.#pool, applicantKeys1765000000000);
    return this.#hasBegun;
  }

  /** From now on the version before does not start any more. */
  async begin(): Promise<void> {
    await raiseFloor(this.#pool, applicantKeys1765000000000);
  }
}
