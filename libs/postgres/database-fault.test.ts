import type { Call } from '@creditlane/rpc/call';
import { describe, expect, test } from 'vitest';
import { translateDatabaseErrors } from './database-fault.ts';

describe('a handler that the database fails', () => {
  const failing = (code: string) =>
    translateDatabaseErrors({
      async answer(_request: never, _call: Call): Promise<object> {
        throw Object.assign(new Error('as the database said'), { code });
      },
    });
  const call = {} as Call;

  test('answers unavailable while the database is unavailable', async () => {
    const answer = failing('57P01').answer(undefined as never, call);
    await expect(answer).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 1 });
  });

  test.each(['55P03', '57014', '40P01', '40001'])(
    'is unavailable while it loses against other work (%s)',
    async (code) => {
      const answer = failing(code).answer(undefined as never, call);
      await expect(answer).rejects.toMatchObject({ kind: 'unavailable' });
    },
  );

  test('fails as the database said where it refused the statement', async () => {
    const answer = failing('23505').answer(undefined as never, call);
    await expect(answer).rejects.toThrow('as the database said');
  });
});
