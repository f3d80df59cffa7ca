// Chromium for tests: the one that CHROMIUM names, one that the system's package manager installed, or a fetched one.
import { existsSync } from 'node:fs';
import type { LaunchOptions } from 'playwright-core';
import { packagedChromium } from '../programs/chromium.ts';
import { findOptional, requireLinuxX64 } from './optional-program.ts';

/** Where the packages of Debian, Ubuntu, Fedora and Chrome put it, and the application of macOS. */
const COMMON_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * How Chromium is started without a window; undefined where there is none and none can be fetched. Only pages of this
 * repository's own servers may be opened in it: its sandbox is off, which needs privileges that containers and root do not give.
 */
export function findChromium(): Promise<LaunchOptions | undefined> {
  return findOptional('Chromium', async () => {
    const installed = process.env.CHROMIUM || COMMON_PATHS.find((path) => existsSync(path));
    if (installed) return { executablePath: installed, chromiumSandbox: false };
    requireLinuxX64('Chromium');
    const { executablePath, env } = await packagedChromium();
    return { executablePath, chromiumSandbox: false, env: { ...process.env, ...env } };
  });
}
