// Chromium for tests: the one that CHROMIUM names, or one that the system's package manager installed.
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where the packages of Debian, Ubuntu, Fedora and Chrome put it, and the application of macOS. */
const COMMON_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The path of the executable; undefined where there is none. */
export function findChromium(): string | undefined {
  const { CHROMIUM } = process.env;
  return CHROMIUM || COMMON_PATHS.find((path) => existsSync(path));
}

/** Starts Chromium without a window. Only pages of this repository's own servers may be opened in it. */
export function launchChromium(executablePath: string): Promise<Browser> {
  // Chromium's own sandbox needs privileges that containers and root do not give.
  return chromium.launch({ executablePath, chromiumSandbox: false });
}
