// One platform for several test files that run as one: with a process for each service, a start takes 20 s of CPU time.
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestPlatform, TestPlatform, type TestPlatformOptions } from './test-platform.ts';

let shared: { platform: TestPlatform; options: TestPlatformOptions } | undefined;

/** Starts a platform before the tests of this file, for each `openTestPlatform`, and closes it after them. */
export function shareTestPlatform(options: TestPlatformOptions): void {
  beforeAll(async () => {
    shared = { platform: await startTestPlatform(options), options };
  });
  afterAll(() => shared?.platform.close());
}

/** Starts a platform; where one is shared, returns that one, with an empty inbox, and leaves it running on `close`. */
export async function openTestPlatform(options: TestPlatformOptions = {}): Promise<TestPlatform> {
  if (shared === undefined) return startTestPlatform(options);
  const { platform } = shared;
  expect(shared.options).toMatchObject(options);
  await platform.resetInbox();
  return new TestPlatform(platform.demo, { ...platform, close: async () => undefined });
}
