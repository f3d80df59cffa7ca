import type { Keys } from '@creditlane/runtime/setting';
import { expect, test } from 'vitest';
import { checkLink, documentPath, endOfLink } from './document-link.ts';

test('a link opens in each step in which DOCUMENT_LINK_KEY is replaced, and not once its key is gone', () => {
  const [old, next] = [Buffer.from('old'), Buffer.from('next')];
  const now = new Date();
  const opens = (signs: Keys, verifies: Keys) => {
    const { pathname, searchParams } = new URL(
      documentPath(signs, 'f', endOfLink(now)),
      'https://x',
    );
    const signature = searchParams.get('signature') ?? '';
    const link = { fileId: 'f', expires: Number(searchParams.get('expires')), signature };
    expect(pathname).toBe('/credit-files/f/document');
    return () => checkLink(verifies, link, now);
  };
  opens([old], [old, next])();
  opens([old, next], [old])();
  opens([old, next], [next, old])();
  opens([next, old], [old, next])();
  expect(opens([old], [next])).toThrow('not valid');
});
