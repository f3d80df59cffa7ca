import { expect, test } from 'vitest';
import { readEnv } from '../env.ts';
import { setting } from '../setting.ts';
import { observeKeyDates, withTodaysDate } from './key-dates.ts';
import { Metrics } from './metrics.ts';

const KEYS = setting.keys('LINK_KEY', { about: 'Keys.', secret: true });
const [KEY, OTHER_KEY] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));

const readKeys = (text: string) => readEnv({ LINK_KEY: text }, (env) => KEYS.read(env));
const datesIn = async (metrics: Metrics) =>
  [...(await metrics.text()).matchAll(/^creditlane_key_made_timestamp_seconds(.+)$/gm)].map(
    ([, sample]) => sample,
  );

test('keys are the same with a date and without one, and those with a date are exported', async () => {
  const keys = readKeys(`${KEY},${OTHER_KEY}:2026-03-01`);
  expect(keys().map((key) => key.toString('base64'))).toEqual([KEY, OTHER_KEY]);
  const metrics = new Metrics();
  KEYS.observe?.(keys, metrics);
  expect(await datesIn(metrics)).toEqual(['{key="LINK_KEY",id="2"} 1772323200']);
});

test('the dates of keys in a group of settings are exported, too', async () => {
  const group = setting.all({ links: setting.all({ keys: KEYS }) });
  const values = readEnv({ LINK_KEY: `${KEY}:2026-03-01` }, (env) => group.read(env));
  const metrics = new Metrics();
  group.observe?.(values, metrics);
  expect(await datesIn(metrics)).toEqual(['{key="LINK_KEY",id="1"} 1772323200']);
});

test('a key that is made today has the date of today', () => {
  const [key] = readKeys(withTodaysDate(KEY ?? ''))();
  expect(Math.abs(Date.now() - (key.madeAt?.getTime() ?? 0))).toBeLessThan(2 * 86_400_000);
});

test.each(['', '2026', '2026-02-30', '2026-03-01T10:00:00Z', `2026-03-01:${OTHER_KEY}`])(
  'a key with the date "%s" is refused, and the error does not quote the key',
  (date) => {
    expect(() => readKeys(`${KEY}:${date}`)).toThrow(
      'LINK_KEY: must be keys whose dates are calendar dates, written yyyy-MM-dd',
    );
  },
);

test('a key that is removed is exported no more', async () => {
  const metrics = new Metrics();
  const dates = new Map([['old', new Date(1_000)]]);
  observeKeyDates(metrics, 'KEY_RING', () => new Map(dates));
  expect(await datesIn(metrics)).toEqual(['{key="KEY_RING",id="old"} 1']);
  dates.delete('old');
  dates.set('new', new Date(2_000));
  expect(await datesIn(metrics)).toEqual(['{key="KEY_RING",id="new"} 2']);
});
