import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CloserDeadlineError, CloserError, Closers, ClosingError } from './closers.ts';

async function failureOf(promise: Promise<void>): Promise<AggregateError> {
  return promise.then(
    () => expect.fail('closing did not fail'),
    (error: AggregateError) => error,
  );
}

test('parts close one after another, in reverse order of opening', async () => {
  const closers = new Closers();
  const events: string[] = [];
  for (const name of ['pool', 'server', 'relay']) {
    closers.add(name, async () => {
      events.push(`${name} closing`);
      await Promise.resolve();
      events.push(`${name} closed`);
    });
  }
  await closers.close();
  expect(events).toEqual([
    'relay closing',
    'relay closed',
    'server closing',
    'server closed',
    'pool closing',
    'pool closed',
  ]);
});

test('an owned part is given back, and closed in its turn, for which it has its own limit', async () => {
  const closers = new Closers({ deadlineMs: 1_000 });
  const closed: Part[] = [];
  class Part {
    close() {
      closed.push(this);
    }
  }
  const [pool, pulls] = [new Part(), new Part()];
  expect(closers.own('pool', pool)).toBe(pool);
  closers.own('pulls', pulls, 3_000);
  expect(closers.extraMs).toBe(2_000);
  await closers.close();
  expect(closed).toHaveLength(2);
  expect(closed[0]).toBe(pulls);
});

test('several calls of close close each part once', async () => {
  const closers = new Closers();
  let closed = 0;
  closers.add('pool', () => {
    closed += 1;
  });
  await Promise.all([closers.close(), closers.close()]);
  await closers.close();
  expect(closed).toBe(1);
});

test('a failed closer is named in the error, and the other parts close', async () => {
  const closers = new Closers();
  let poolClosed = false;
  closers.add('pool', () => {
    poolClosed = true;
  });
  const cause = new Error('socket hang up');
  closers.add('relay', () => {
    throw cause;
  });
  closers.add('server', () => Promise.reject(cause));

  const { errors } = await failureOf(closers.close());
  expect(poolClosed).toBe(true);
  expect(errors).toEqual([
    new CloserError('server', { cause }),
    new CloserError('relay', { cause }),
  ]);
});

test('after the deadline of a closer that never ends, the other parts close', async () => {
  const closers = new Closers({ deadlineMs: 5 });
  let poolClosed = false;
  closers.add('pool', () => {
    poolClosed = true;
  });
  closers.add('relay', () => new Promise(() => {}));

  const { errors } = await failureOf(closers.close());
  expect(poolClosed).toBe(true);
  expect(errors).toEqual([new CloserError('relay', { cause: new CloserDeadlineError(5) })]);
});

test('a closer with a longer limit has that time, and extraMs is the difference', async () => {
  const closers = new Closers({ deadlineMs: 5 });
  closers.add('pool', () => {}, 4);
  expect(closers.extraMs).toBe(0);
  let pullsClosed = false;
  const closePulls = async () => {
    await delay(50);
    pullsClosed = true;
  };
  closers.add('pulls', closePulls, 1_000);
  expect(closers.extraMs).toBe(995);
  await closers.close();
  expect(pullsClosed).toBe(true);
});

test('a part that is opened during close is closed, and add throws', async () => {
  const closers = new Closers();
  let lateClosed = false;
  const closing = closers.close();
  const openLate = () =>
    closers.add('late', () => {
      lateClosed = true;
    });
  expect(openLate).toThrow(ClosingError);
  await closing;
  await closers.close();
  expect(lateClosed).toBe(true);
});

test('when a part that was opened during close fails to close, the next close rejects', async () => {
  const closers = new Closers();
  await closers.close();
  const openLate = () => closers.add('late', () => Promise.reject(new Error('socket hang up')));
  expect(openLate).toThrow(ClosingError);
  const { errors } = await failureOf(closers.close());
  expect(errors).toHaveLength(1);
});
