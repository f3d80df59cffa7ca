/** The options of the servers that listen on a port, and the defaults that all mounts share. */
import type { Timeouts } from '@creditlane/runtime/http/limited-server';
import type { Address } from '@creditlane/runtime/listen';
import type { Certificates } from './credentials/certificates.ts';
import type { ProcedureDeps } from './procedure/procedure.ts';
import type { ServiceRoutes } from './service.ts';

/**
 * The largest request that a server reads by default. The largest that the contracts allow, an application
 * whose every text is as long as allowed, has 170 KiB.
 */
export const DEFAULT_MAX_REQUEST_BYTES = 256 * 1024;
/**
 * The largest answer that a client reads: an application in front of 25 creditors, with the longest worksheets, of 176 KiB each,
 * and 350 KiB of applicants at most. A page of a list has about 256 KiB.
 */
export const MAX_ANSWER_BYTES = 5 * 1024 * 1024;

export type ServerOptions = ProcedureDeps &
  Address & {
    routes: readonly ServiceRoutes[];
    maxMessageBytes?: number;
    /** How long `close` waits for calls under way before it cuts their connections. */
    gracePeriodMs?: number;
    /** With certificates, callers must present one of the same authority; without, plain text. */
    certificates?: Certificates | undefined;
    /** How long clients may take; over gRPC, `headMs` is the time until a client begins HTTP/2. */
    timeouts?: Timeouts;
  };

/** Shorter than the deadline of a process's closers, so that calls which are cut are still reported. */
export const DEFAULT_GRACE_PERIOD_MS = 8_000;
