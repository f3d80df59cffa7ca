import { once } from 'node:events';
import { createServer } from 'node:net';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { findConsecutivePorts } from '@creditlane/supervision/test-consecutive-ports';
import { expect, test } from 'vitest';
import { HOST } from './host.ts';
import { choosePorts } from './ports.ts';

test('with any free ports, the webhook inbox keeps its former port while that is free', async () => {
  const [formerInbox = 0] = await findFreePorts(1);
  const again = await choosePorts({ first: 0, host: HOST, formerInbox });
  expect(again.inbox).toBe(formerInbox);
  expect([again.api, again.ops]).not.toContain(formerInbox);

  const other = createServer().listen(formerInbox, HOST);
  await once(other, 'listening');
  const moved = await choosePorts({ first: 0, host: HOST, formerInbox });
  await once(other.close(), 'close');
  expect(moved.inbox).not.toBe(formerInbox);
});

test('with a first port, the webhook inbox has the third port, whatever its former one was', async () => {
  const first = await findConsecutivePorts(6);
  const ports = await choosePorts({ first, host: HOST, services: 2, formerInbox: first + 9 });
  expect(ports).toEqual({
    api: first,
    ops: first + 1,
    inbox: first + 2,
    simulator: first + 3,
    services: [first + 4, first + 5],
  });
});
