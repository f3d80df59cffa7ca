import { answersByAgeMigrations } from '@creditlane/idempotency/stored-answers';
import { submissionsAndDecisions1763700000000 } from './0001-submissions-and-decisions.ts';

/** Expired answers are found by a B-tree index; every version with the table can use the database. */
export const answersByAge = answersByAgeMigrations(submissionsAndDecisions1763700000000);
