/** HTTP servers that limit what clients take: time, connections, and memory of answers that are not read. */
import { createServer, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { countUnusedAsIdle, limitConnections } from './connections.ts';
import { cutUnreadAnswers } from './unread-answers.ts';

export interface Timeouts {
  /** How long the head of a request may take to arrive. */
  headMs: number;
  /** How long the whole request may take to arrive. */
  requestMs: number;
  /** How long a client may take none of the bytes of its answer. */
  unreadMs: number;
}

export interface ServerLimits {
  timeouts?: Timeouts | undefined;
  maxConnections: number;
  /** Connections without such an answer, which may be still under way, are closed first when there are too many. */
  isAuthenticated?: (res: ServerResponse) => boolean;
  /** Called with a code for each connection that is cut. */
  onRefusal?: (code: 'too_many_connections' | 'answer_not_read') => void;
}

export const TIMEOUTS: Timeouts = { headMs: 10_000, requestMs: 30_000, unreadMs: 15_000 };
/** How often Node looks for late requests within `headMs`, instead of every 30 s. A timeout comes at most one such period late. */
const TIMEOUT_CHECKS = 5;

/** The options by which a server of Node cuts requests that arrive too slowly. */
export function timeoutOptions({ headMs, requestMs }: Timeouts = TIMEOUTS) {
  return {
    headersTimeout: headMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.ceil(headMs / TIMEOUT_CHECKS),
  };
}

/** A server with these limits, which does not listen yet. The limits replace those of `options`. */
export function createLimitedServer(limits: ServerLimits, options: ServerOptions = {}): Server {
  const { timeouts = TIMEOUTS, maxConnections } = limits;
  const { isAuthenticated = () => false, onRefusal = () => {} } = limits;
  const server = createServer({ ...options, ...timeoutOptions(timeouts) });
  limitConnections(server, maxConnections, isAuthenticated, () =>
    onRefusal('too_many_connections'),
  );
  countUnusedAsIdle(server);
  cutUnreadAnswers(server, timeouts.unreadMs, () => onRefusal('answer_not_read'));
  return server;
}
