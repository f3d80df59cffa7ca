import { TOPICS } from '@creditlane/events/topics';
import type { AnyService } from '@creditlane/service/define-service';
import { processVariables } from '@creditlane/service/settings';
import { expect, test } from 'vitest';
import { consumersOf, SERVICES, sortByEventFlow } from './services.ts';

const services: readonly AnyService[] = SERVICES;

test('every topic has a publisher and a consumer', () => {
  const published = services.flatMap(({ publishes = [] }) => publishes);
  expect(published.toSorted()).toEqual(Object.keys(TOPICS).toSorted());
  for (const consumers of Object.values(consumersOf(services))) expect(consumers).not.toEqual([]);
});

test('every service stands after those that it calls, and has names of its own', () => {
  const names = services.map(({ name }) => name);
  for (const { name, calls = [] } of services) {
    const earlier = names.slice(0, names.indexOf(name));
    expect(earlier).toEqual(expect.arrayContaining([...calls]));
  }
  const databases = services.flatMap(({ database }) => (database ? [database.name] : []));
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(databases).size).toBe(databases.length);
});

test('every secret is declared as one that follows its file while the service runs', () => {
  const secrets = services.flatMap(processVariables).filter(({ secret }) => secret);
  expect(secrets.map(({ name }) => name)).toContain('KEY_RING');
  expect(secrets.filter(({ renewed }) => !renewed)).toEqual([]);
});

test('a service comes after those whose events it consumes, in any order of the list', () => {
  const ordered = sortByEventFlow(services.toReversed()).map(({ name }) => name);
  const events = ['applications', 'decisions', 'webhook-dispatcher'];
  expect(ordered.filter((name) => events.includes(name))).toEqual(events);
});
