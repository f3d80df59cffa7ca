import { answersByAgeMigrations } from '@creditlane/idempotency/stored-answers';
import { conversations1764100000000 } from './0001-conversations.ts';

/** Expired answers are found by a B-tree index; every version with the table can use the database. */
export const answersByAge = answersByAgeMigrations(conversations1764100000000);
