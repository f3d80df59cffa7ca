/** Watches which prepared queries a test has sent. */
import { vi } from 'vitest';
import { PreparedQuery } from './prepared-query.ts';

export interface SentQuery {
  readonly name: string;
  readonly text: string;
  /** As PostgreSQL gets them. */
  readonly values: PreparedQuery['values'];
}

/** Returns a function that returns the queries sent since, over all connections and in their order; `restoreAllMocks` ends it. */
export function watchSentQueries(): () => readonly SentQuery[] {
  const send = vi.spyOn(PreparedQuery.prototype, 'send');
  return () => send.mock.contexts as readonly PreparedQuery[];
}
