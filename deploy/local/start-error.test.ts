import { KafkaSizeError } from '@creditlane/embedded-kafka/embedded-kafka';
import { EmbeddedPostgresError } from '@creditlane/embedded-postgres/error';
import { expect, test } from 'vitest';
import { explain } from './start-error.ts';

test.each([
  [1, 3, 'has 1 broker, not 3. Start with --brokers 1, or with --reset, which deletes all data.'],
  [3, 1, 'has 3 brokers, not 1. Start with --brokers 3, or with --reset, which deletes all data.'],
  // Somebody deleted a folder; no option makes two brokers.
  [2, 3, 'has 2 brokers, not 3. Start with --reset, which deletes all data.'],
])(
  'a Kafka of %i where %i are wanted: only options that exist are advised',
  (brokers, wanted, message) => {
    expect(explain(new KafkaSizeError('/data', brokers, wanted))).toMatchObject({
      name: 'StartError',
      message: `The Kafka in /data ${message}`,
    });
  },
);

test('a data directory of another PostgreSQL: the version that made it is advised, or --reset', () => {
  const error = new EmbeddedPostgresError('data_dir_of_other_version', 'It is of PostgreSQL 17.');
  expect(explain(error)).toMatchObject({
    name: 'StartError',
    message:
      'It is of PostgreSQL 17. Use the version of Creditlane that made it, or start with --reset, which deletes all data.',
  });
});

test('an error without a remedy keeps its message, and a defect stays as it is', () => {
  const error = new EmbeddedPostgresError('failed', 'PostgreSQL ended.');
  expect(explain(error)).toMatchObject({ name: 'StartError', message: 'PostgreSQL ended.' });
  const unknown = new TypeError('a defect');
  expect(explain(unknown)).toBe(unknown);
});
