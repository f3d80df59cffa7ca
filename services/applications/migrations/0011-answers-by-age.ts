import { answersByAgeMigrations } from '@creditlane/idempotency/stored-answers';
import { applications1763700000000 } from './0001-applications.ts';

/** Expired answers are found by a B-tree index; every version with the table can use the database. */
export const answersByAge = answersByAgeMigrations(applications1763700000000);
