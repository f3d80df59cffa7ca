import { expect, test } from 'vitest';
import { parsePhoneNumber } from './phone-number.ts';

test.each([
  '+1 514 555 0143',
  '(514) 555-0143',
  '514.555.0143',
  '1-514-555-0143',
  ' 5145550143 ',
  '+1 (514) 555‑0143',
  '+15145550143',
])('"%s" is the number +15145550143', (text) => {
  expect(parsePhoneNumber(text)).toBe('+15145550143');
});

test.each([
  '514-555-0143 x204',
  '514 555 0143 ext. 204',
  '514 555-0143 poste 204',
  '+15145550143;ext=204',
])('"%s" keeps its extension', (text) => {
  const number = '+15145550143 ext. 204';
  expect(parsePhoneNumber(text)).toBe(number);
  expect(parsePhoneNumber(number)).toBe(number);
});

test.each([
  ['+44 20 7946 0018', '+442079460018'],
  ['011 33 1 45 45 32 45', '+33145453245'],
  ['800-555-0199', '+18005550199'],
])('"%s" is the number %s', (text, number) => {
  expect(parsePhoneNumber(text)).toBe(number);
});

test.each([
  ['letters', 'abc'],
  ['forty zeros', '0'.repeat(40)],
  ['no area code', '555-0143'],
  ['an area code that begins with 1', '1 142 555 0143'],
  ['an exchange that begins with 1', '514 155 0143'],
  ['a word behind the number', '514 555 0143 home'],
  ['two numbers', '514 555 0143 / 514 555 0144'],
  ['an unknown country code', '+999 123456'],
  ['an emergency number', '911'],
  ['no text', ''],
])('%s are no telephone number', (_, text) => {
  expect(parsePhoneNumber(text)).toBeUndefined();
});
