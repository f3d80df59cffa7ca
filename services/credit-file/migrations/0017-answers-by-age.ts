import { answersByAgeMigrations } from '@creditlane/idempotency/stored-answers';
import { creditFiles1764700000000 } from './0001-credit-files.ts';

/** Expired answers are found by a B-tree index; every version with the table can use the database. */
export const answersByAge = answersByAgeMigrations(creditFiles1764700000000);
