import { expect, test } from 'vitest';
import { DocumentOpenings } from './document-openings.ts';

const TOO_MANY = { kind: 'resource_exhausted', code: 'too_many_under_way', retryAfterS: 1 };

/** Begins openings that end when the test says so, each of another link unless the test names one. */
function recordOpenings() {
  const openings = new DocumentOpenings();
  const end = Promise.withResolvers<void>();
  const begun: string[] = [];
  let expires = 0;
  const open = (retailerId: string, fileId = 'file') => {
    if (fileId === 'file') expires += 1;
    return openings.run(
      { link: { fileId, expires }, retailerId },
      async () => {
        begun.push(retailerId);
        await end.promise;
        return 'opened';
      },
      {},
    );
  };
  return { open, begun, end: end.resolve };
}

test('two openings of a retailer run at once, and those of another begin without waiting for the others', async () => {
  const { open, begun, end } = recordOpenings();
  const answers = Array.from({ length: 20 }, () => open('one'));
  answers.push(open('another'), open('another'));
  await Promise.resolve();
  expect(begun).toEqual(['one', 'one', 'another', 'another']);
  end();
  expect(await Promise.all(answers)).toEqual(answers.map(() => 'opened'));
});

test('the openings of the retailers that wait begin in turns', async () => {
  const { open, begun, end } = recordOpenings();
  const retailers = ['one', 'one', 'two', 'two', 'one', 'one', 'one', 'three', 'three', 'three'];
  const answers = retailers.map((retailerId) => open(retailerId));
  end();
  await Promise.all(answers);
  expect(begun.slice(4)).toEqual(['one', 'three', 'one', 'three', 'one', 'three']);
});

test('twenty openings of a retailer wait, and further ones are refused while another’s begin', async () => {
  const { open, begun, end } = recordOpenings();
  const answers = Array.from({ length: 22 }, () => open('one'));
  await expect(open('one')).rejects.toMatchObject(TOO_MANY);
  answers.push(open('another'));
  await Promise.resolve();
  expect(begun).toEqual(['one', 'one', 'another']);
  end();
  await Promise.all(answers);
});

test('two openings of a link are under way at once, whether they run or wait', async () => {
  const { open, end } = recordOpenings();
  const answers = [open('one'), open('one'), open('one', 'same'), open('one', 'same')];
  await expect(open('one', 'same')).rejects.toMatchObject(TOO_MANY);
  end();
  await Promise.all(answers);
  expect(await open('one', 'same')).toBe('opened');
});
