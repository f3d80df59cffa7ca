/** The two run modes of the platform under measurement, and what the worker of either mode offers. */
import type { PlatformSettings } from '@creditlane/local/settings';

export type RunMode = 'one process' | 'processes';

export interface StartOptions extends Omit<PlatformSettings, 'ports'> {
  /** For everything that is stored beside the databases. */
  dataDir: string;
  /** Command-line flags of Node for the platform's processes. */
  nodeFlags: string[];
}

/** Where the started platform is reached. */
export interface PlatformAddress {
  /** Ends in /v1. */
  baseUrl: string;
  processes: Record<string, PlatformProcess>;
}

export interface PlatformProcess {
  pid: number;
  /** The URL below which /metrics is. */
  opsUrl: string;
}

export type PlatformWorker = { start(options: StartOptions): Promise<PlatformAddress> };

/** Limits above any load: the limit of one integration or person is not what is measured. */
export const SETTINGS = {
  gateway: { RATE_LIMIT_REQUESTS: '1000000' },
  'credit-file': { MAX_FORCED_PULLS: '1000' },
};
