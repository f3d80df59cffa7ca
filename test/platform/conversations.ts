// Submissions with comments, and reads of the comments that take little time of the test's own.
import type { TestPlatform } from './test-platform.ts';

/** Makes a submission with so many comments; resolves with the path of its conversation. */
export async function startConversation(
  platform: TestPlatform,
  count: number,
  comment: string,
): Promise<string> {
  const { applicationId, creditorId } = await platform.submitNewApplication();
  const path = `/applications/${applicationId}/creditors/${creditorId}`;
  for (let sent = 0; sent < count; sent += 1) {
    const { status } = await platform.api.post(`${path}/comment`, {
      userName: 'Ines Okafor',
      comment,
    });
    if (status >= 300) throw new Error(`a comment was refused with ${status}`);
  }
  return `${path}/conversation`;
}

/** Reads the first page of the conversation so many times at once, each time again while `isRepeated()`. */
export async function readConversation(
  { demo }: TestPlatform,
  path: string,
  times: number,
  isRepeated = () => false,
): Promise<void> {
  const headers = { authorization: demo.keys.integration };
  const read = async () => {
    do {
      const answer = await fetch(`${demo.baseUrl}${path}?limit=100`, { headers });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`a read was answered with ${answer.status}`);
    } while (isRepeated());
  };
  await Promise.all(Array.from({ length: times }, read));
}

/** JSON escapes each character but the first with six bytes. */
export const LONG_COMMENT = `x${'\u0001'.repeat(9_999)}`;
