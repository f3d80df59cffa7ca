/** Watches which prepared queries a test has sent. */
import { vi } from 'vitest';
import { PreparedQuery } from './prepared-query.ts';
import type { SentQuery } from './test-capturing-client.ts';

/** Returns a function that returns the queries sent since, over all connections and in their order; `restoreAllMocks` ends it. */
export function watchSentQueries(): () => readonly SentQuery[] {
  const send = vi.spyOn(PreparedQuery.prototype, 'send');
  return () => send.mock.contexts as readonly PreparedQuery[];
}
