import type { Call } from '@creditlane/rpc/call';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { describe, expect, test } from 'vitest';
import { translateDatabaseErrors } from './database-fault.ts';

describe('a handler that the database fails', () => {
  const failing = (code: string) => {
    const handler = () =>
      Promise.reject(Object.assign(new Error('as the database said'), { code }));
    const services = [{ service: {}, routes: [{ method: {}, handler }] }] as unknown;
    const [translated] = translateDatabaseErrors(services as ServiceRoutes[]);
    return translated?.routes[0]?.handler(undefined as never, {} as Call);
  };

  test('answers unavailable while the database is unavailable', async () => {
    await expect(failing('57P01')).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 1 });
  });

  test.each(['55P03', '57014', '40P01', '40001'])(
    'is unavailable while it loses against other work (%s)',
    async (code) => {
      await expect(failing(code)).rejects.toMatchObject({ kind: 'unavailable' });
    },
  );

  test('fails as the database said where it refused the statement', async () => {
    await expect(failing('23505')).rejects.toThrow('as the database said');
  });
});
