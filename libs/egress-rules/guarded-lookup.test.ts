import { expect, it } from 'vitest';
import { nameServers } from './guarded-lookup.ts';

it('localhost is resolved without a name server', async () => {
  expect(await nameServers()('localhost')).toEqual(['127.0.0.1', '::1']);
});
