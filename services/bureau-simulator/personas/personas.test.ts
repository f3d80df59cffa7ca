import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readXml } from '../xml-document.ts';
import type { ReceivedInquiry, Source } from './inquiry.ts';
import { findPersona, folderOf, listPersonas, PERSONAS, writeAnswer } from './personas.ts';

const SOURCES = ['EQUIFAX', 'TRANSUNION'] as const;

function makeInquiry(source: Source, of: { firstName: string; lastName: string }): ReceivedInquiry {
  return {
    source,
    member: 'M1',
    reference: 'r1',
    requestNumber: '1',
    firstName: of.firstName,
    lastName: of.lastName,
    sin: '046454286',
    dateOfBirth: '1988-07-14',
    date: '2026-03-02',
  };
}

function answerOf(source: Source, firstName: string, lastName: string): string {
  const inquiry = makeInquiry(source, { firstName, lastName });
  return writeAnswer(inquiry, findPersona(source, inquiry));
}

describe('the personas', () => {
  test('each is found by name, in any case and without accents', () => {
    for (const persona of PERSONAS) {
      for (const source of persona.sources) {
        const names = { firstName: persona.firstName, lastName: ` ${persona.lastName} ` };
        expect(findPersona(source, names)).toBe(persona);
        const plain = names.lastName
          .normalize('NFD')
          .replace(/\p{Diacritic}/gu, '')
          .toUpperCase();
        expect(findPersona(source, { ...names, lastName: plain })).toBe(persona);
      }
    }
    expect(findPersona('EQUIFAX', { firstName: 'Other', lastName: 'Score' })).toBeUndefined();
    expect(findPersona('EQUIFAX', { firstName: 'Other', lastName: 'Thin' })).toBeDefined();
    expect(findPersona('TRANSUNION', { firstName: 'Lou', lastName: 'Locked' })).toBeUndefined();
  });

  test('each with an answer has a folder with it at its bureaus, and there are no other folders', () => {
    for (const source of SOURCES) {
      const answered = PERSONAS.filter(
        (it) => it.sources.includes(source) && it.behaviour.kind === 'answer',
      );
      const folders = readdirSync(join(import.meta.dirname, source.toLowerCase()));
      expect(folders.sort()).toEqual(['ordinary', ...answered.map(folderOf)].sort());
    }
  });

  test('each answer is XML without a placeholder', () => {
    for (const { sources, firstName, lastName } of PERSONAS) {
      for (const source of sources) {
        const xml = answerOf(source, firstName, lastName);
        expect(readXml(xml), lastName).toBeDefined();
        expect(xml, lastName).not.toContain('{{');
      }
    }
  });

  test('have no social insurance number that may be issued to anybody', () => {
    for (const { sources, firstName, lastName } of PERSONAS) {
      for (const source of sources) {
        const xml = answerOf(source, firstName, lastName);
        for (const [, sin = ''] of xml.matchAll(/<(?:SIN|SocialInsuranceNumber)>(\d+)</g)) {
          expect([sin.slice(0, 1), luhnSum(sin) % 10], `${lastName} ${sin}`).toEqual(['0', 0]);
        }
      }
    }
  });

  test('together have every hit type and every outcome', () => {
    expect(new Set(PERSONAS.map(({ hitType }) => hitType)).size).toBe(8 + 1);
    expect(new Set(PERSONAS.map(({ outcome }) => outcome))).toEqual(
      new Set(['complete', 'slow', 'failed', 'unknown']),
    );
  });

  test('the persona with the thick file has 200 trades of different numbers', () => {
    for (const source of SOURCES) {
      const [, trades = ''] =
        /<(?:CN)?Trades>(.*)<\/(?:CN)?Trades>/s.exec(answerOf(source, 'Thea', 'Thick')) ?? [];
      const accounts = [...trades.matchAll(/<Account(?:Number)?>(.*?)</g)].map(([, it]) => it);
      expect([accounts.length, new Set(accounts).size]).toEqual([200, 200]);
    }
  });

  test('with failures of the connection stand between others at each bureau', () => {
    const kinds = ['http-error', 'hang', 'drop', 'cut', 'oversized'];
    for (const source of SOURCES) {
      const there = PERSONAS.filter((it) => it.sources.includes(source));
      const fails = there.map((it) => kinds.includes(it.behaviour.kind));
      expect(fails.filter(Boolean)).toHaveLength(6);
      expect(fails.some((it, index) => it && fails[index + 1])).toBe(false);
    }
  });

  test('a name is listed once for each bureau', () => {
    const keys = listPersonas().map((it) => `${it.source} ${it.firstName} ${it.lastName}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('the guide for integrators names every one, and the bureau of those that one bureau alone knows', () => {
    const guide = join(import.meta.dirname, '../../gateway/openapi/guides/9-credit-files.md');
    const page = readFileSync(guide, 'utf8');
    const named = [...page.matchAll(/`([^`]+)`(?: ([ET])\b)?/g)].map(
      ([, name, mark = '']) => `${name} ${mark}`,
    );
    for (const { lastName } of PERSONAS) {
      const known = PERSONAS.filter((it) => it.lastName === lastName).flatMap((it) => it.sources);
      const [source = '', other] = [...new Set(known)];
      expect(named).toContain(`${lastName} ${other === undefined ? source.charAt(0) : ''}`);
    }
  });

  test('the table of the README has every persona as it is', () => {
    const rows = PERSONAS.map(
      ({ firstName, lastName, isByFirstName, sources, about, hitType, outcome }) =>
        `| ${isByFirstName ? `**${firstName}**` : firstName} **${lastName}** | ${sources.map((it) => (it === 'EQUIFAX' ? 'E' : 'T')).join(' ')} | ${about} | ${hitType ?? ''} | ${outcome} |`,
    );
    const page = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    expect(page.split('\n').filter((line) => line.includes('** |'))).toEqual(rows);
  });
});

/** The sum of the digits, of which every second from the right is doubled. */
function luhnSum(digits: string): number {
  const doubled = [...digits].reverse().map((digit, index) => Number(digit) * (1 + (index % 2)));
  return doubled.reduce((sum, value) => sum + (value > 9 ? value - 9 : value), 0);
}

describe('another name', () => {
  const answer = (firstName: string, lastName: string) => answerOf('EQUIFAX', firstName, lastName);

  test('has the same hit file each time, and names differ in their files', () => {
    expect(answer('Maya', 'Tremblay')).toBe(answer('Maya', 'Tremblay'));
    const scores = ['Adams', 'Baker', 'Chen', 'Diaz'].map(
      (name) => /<Value>(\d+)<\/Value>/.exec(answer('Maya', name))?.[1],
    );
    expect(new Set(scores).size).toBeGreaterThan(1);
    expect(answer('Maya', 'Tremblay')).toContain('<HitCode code="1"');
  });
});
