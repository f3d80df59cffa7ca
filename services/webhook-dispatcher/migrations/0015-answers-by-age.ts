import { answersByAgeMigrations } from '@creditlane/idempotency/stored-answers';
import { replays1764300000000 } from './0005-replays.ts';

/** Expired answers are found by a B-tree index; every version with the table can use the database. */
export const answersByAge = answersByAgeMigrations(replays1764300000000);
