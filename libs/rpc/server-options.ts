/** What each way of mounting services is given, and the limits they share. */
import type { Certificates } from './credentials/certificates.ts';
import type { ProcedureDeps } from './pipeline/pipeline.ts';
import type { ServiceRoutes } from './service.ts';

/** The largest message that a service reads, unless told otherwise; applications are a few KiB. */
export const DEFAULT_MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** What a server that listens is given. */
export type ServerOptions = ProcedureDeps & {
  /** 0 takes a free one. */
  port: number;
  /** All IPv4 addresses when left out. */
  host?: string;
  routes: readonly ServiceRoutes[];
  readMaxBytes?: number;
  /** How long `close` lets calls under way go on before it cuts them off. */
  gracePeriodMs?: number;
  /** With them, callers must show a certificate of the same authority; without, all is plain text. */
  certificates?: Certificates | undefined;
};

export const DEFAULT_HOST = '0.0.0.0';

/** Shorter than a process gives each of its closers, so that what is cut off is still counted. */
export const DEFAULT_GRACE_PERIOD_MS = 8_000;
