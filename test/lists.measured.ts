// What lists cost.
import { cpuMsOf, expectAtMost, mediansInTurns } from '@creditlane/runtime/test-measures';
import { test } from 'vitest';
import { LONG_COMMENT, readConversation, startConversation } from './platform/conversations.ts';
import { startTestPlatform } from './platform/test-platform.ts';

const COMMENTS = 24;
const REQUESTS = 60;
/** The multiple is 2 to 3; a page of all the comments costs 8. */
const MAX_RATIO = 6;

test('a list of long texts costs no more CPU time than a few ordinary lists', async ({
  onTestFinished,
}) => {
  const platform = await startTestPlatform();
  onTestFinished(() => platform.close());
  const ordinary = await startConversation(platform, COMMENTS, 'Page');
  const long = await startConversation(platform, COMMENTS, LONG_COMMENT);
  const { ordinaryMs, longMs } = await mediansInTurns(
    {
      ordinaryMs: () => cpuMsOf(() => readConversation(platform, ordinary, REQUESTS)),
      longMs: () => cpuMsOf(() => readConversation(platform, long, REQUESTS)),
    },
    5,
  );
  expectAtMost(MAX_RATIO, 'CPU of a list of long texts, as a multiple', longMs / ordinaryMs);
});
