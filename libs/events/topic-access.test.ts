import { readSettings } from '@creditlane/runtime/setting';
import { expect, test } from 'vitest';
import { formatTopicAccess, TOPIC_ACCESS } from './topic-access.ts';

const read = (text: string) =>
  readSettings({ KAFKA_TOPIC_ACCESS: text }, { users: TOPIC_ACCESS }).users;

test('the access of services is read as it was formatted, one entry for each topic', () => {
  const entries = formatTopicAccess([
    { name: 'integrations' },
    {
      name: 'decisions',
      publishes: ['creditlane.decisions.v1'],
      consumes: ['creditlane.applications.v1'],
    },
  ]);
  expect(entries).toEqual([
    'decisions:publishes:creditlane.decisions.v1',
    'decisions:consumes:creditlane.applications.v1',
  ]);
  expect(read(entries.join(', '))).toEqual([
    { name: 'decisions', publishes: ['creditlane.decisions.v1'] },
    { name: 'decisions', consumes: ['creditlane.applications.v1'] },
  ]);
});

test('without the setting no access is made', () => {
  expect(readSettings({}, { users: TOPIC_ACCESS }).users).toEqual([]);
});

test.each([
  'decisions',
  'decisions:deletes:creditlane.decisions.v1',
  'decisions:publishes:creditlane.unknown.v1',
  'decisions:publishes:constructor',
  'User:*:publishes:creditlane.decisions.v1',
])('an entry that is not of the form is a fault: %s', (text) => {
  expect(() => read(text)).toThrow('KAFKA_TOPIC_ACCESS: must be user:publishes:topic');
});
