/** For tests: one database for the tests of a file, each of which finds empty tables. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import { createTestFixture, type Dispatcher, type TestFixture } from '../test-fixture.ts';

/** The fixture of the file, and a `start` whose dispatchers are closed after the test. */
export function shareTestFixture() {
  let fixture: TestFixture;
  const dispatchers: Dispatcher[] = [];
  beforeAll(async () => {
    fixture = await createTestFixture();
  });
  afterEach(async () => {
    for (const dispatcher of dispatchers.splice(0)) await dispatcher.close();
    const tables = 'deliveries, messages, attempts, submissions, sequences, destination_states';
    await fixture.sql.query(`TRUNCATE ${tables}, replay_jobs, delivery_redrives, idempotency`);
  });
  afterAll(() => fixture.close());
  return {
    get fixture() {
      return fixture;
    },
    async start(settings: Record<string, string>): Promise<Dispatcher> {
      const dispatcher = await fixture.start(settings);
      dispatchers.push(dispatcher);
      return dispatcher;
    },
  };
}
