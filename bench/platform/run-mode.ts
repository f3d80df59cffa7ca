/** The platform under measurement, in either of its shapes, as the part that runs it is asked for it. */
import type { PlatformSettings } from '@creditlane/local/settings';

export const SHAPES = ['one process', 'processes'] as const;

export type Shape = (typeof SHAPES)[number];

export interface PlatformOptions extends Omit<PlatformSettings, 'ports'> {
  /** For what the shape keeps beside the databases. */
  dataDir: string;
  /** Flags of Node for the processes that do the platform's work. */
  nodeFlags: string[];
}

/** Where it runs. */
export interface Platform {
  /** Ends in /v1. */
  baseUrl: string;
  processes: Record<string, PlatformProcess>;
}

export interface PlatformProcess {
  pid: number;
  /** Where its metrics are. */
  opsUrl: string;
}

/** What every part that runs a platform can do. */
export type PlatformPart = { start(options: PlatformOptions): Promise<Platform> };

/** As many requests as the load makes: what one integration may ask for is not what is measured. */
export const SETTINGS = { gateway: { RATE_LIMIT_REQUESTS: '1000000' } };
