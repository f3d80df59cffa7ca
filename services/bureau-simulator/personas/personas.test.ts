import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CreditFile } from '../credit-file.ts';
import { writeFiles } from '../send-answer.ts';
import { findElement, readXml } from '../xml-document.ts';
import type { ReceivedInquiry, Source } from './inquiry.ts';
import type { Persona } from './persona.ts';
import { findPersona, listPersonas, ORDINARY, PERSONAS } from './personas.ts';

function makeInquiry(source: Source, of: { firstName: string; lastName: string }): ReceivedInquiry {
  return {
    source,
    member: 'M1',
    reference: 'r1',
    firstName: of.firstName,
    lastName: of.lastName,
    sin: '046454286',
    dateOfBirth: '1988-07-14',
    address: {
      streetNo: '12',
      streetName: 'Main St',
      city: 'Ottawa',
      province: 'ON',
      postalCode: 'K1A0B1',
    },
    date: '2026-03-02',
  };
}

function filesOf(persona: Persona, source: Source): CreditFile[] {
  const { behaviour } = persona;
  return behaviour.kind === 'file' ? behaviour.makeFiles(makeInquiry(source, persona)) : [];
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

  test('each answer with a file is XML, and one of its files has the hit type of the list', () => {
    for (const persona of PERSONAS) {
      const { behaviour, hitType } = persona;
      for (const source of persona.sources) {
        if (behaviour.kind !== 'file') {
          expect(hitType).toBeNull();
          continue;
        }
        const xml = readXml(writeFiles(makeInquiry(source, persona), behaviour));
        expect(findElement(xml, source === 'EQUIFAX' ? 'EfxReport' : 'x') !== undefined).toBe(
          source === 'EQUIFAX',
        );
        expect(xml, persona.lastName).toBeDefined();
        // The file of somebody else is none of the persona.
        const expected = hitType ?? 'HIT';
        expect(filesOf(persona, source).map((file) => file.hitType)).toContain(expected);
      }
    }
  });

  test('together have every hit type, every outcome and every section', () => {
    expect(new Set(PERSONAS.map(({ hitType }) => hitType)).size).toBe(8 + 1);
    expect(new Set(PERSONAS.map(({ outcome }) => outcome))).toEqual(
      new Set(['complete', 'slow', 'failed', 'unknown']),
    );
    const sections = new Set(
      PERSONAS.flatMap((persona) => filesOf(persona, 'EQUIFAX')).flatMap((file) =>
        Object.entries({ ...file, ...file.subject }).flatMap(([name, value]) =>
          Array.isArray(value) && value.length > 0 ? [name] : [],
        ),
      ),
    );
    expect([...sections].sort()).toEqual([
      'addressHistory',
      'bankruptcies',
      'collections',
      'consumerStatements',
      'employmentHistory',
      'foreignInquiries',
      'legalItems',
      'localInquiries',
      'otherNames',
      'scores',
      'securedLoans',
      'specialServices',
      'trades',
    ]);
  });

  test('the persona with the thick file has 200 trades of different numbers', () => {
    const persona = findPersona('EQUIFAX', { firstName: '', lastName: 'Thick' }) as Persona;
    const trades = filesOf(persona, 'EQUIFAX')[0]?.trades ?? [];
    expect(new Set(trades.map(({ accountNumber }) => accountNumber)).size).toBe(200);
  });

  test('the unknown codes are in the answers of both bureaus', () => {
    const persona = findPersona('EQUIFAX', { firstName: '', lastName: 'Unknowncode' }) as Persona;
    if (persona.behaviour.kind !== 'file') throw new Error('no file');
    const equifax = writeFiles(makeInquiry('EQUIFAX', persona), persona.behaviour);
    expect(equifax).toContain('<Association code="ZZ" description="Unheard of"/>');
    expect(equifax).toContain('<Narrative code="ZZ" description="Lunar"/>');
    const transUnion = writeFiles(makeInquiry('TRANSUNION', persona), persona.behaviour);
    expect(transUnion).toContain('<Type>Z</Type>');
    expect(transUnion).toContain('<MOP>66</MOP>');
  });

  test('with failures of the connection stand between others at each bureau', () => {
    const kinds = ['http-error', 'hang', 'drop', 'cut', 'oversized'];
    for (const source of ['EQUIFAX', 'TRANSUNION'] as const) {
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

  test('the table of the README has every persona as it is', () => {
    const rows = PERSONAS.map(
      ({ firstName, lastName, isByFirstName, sources, about, hitType, outcome }) =>
        `| ${isByFirstName ? `**${firstName}**` : firstName} **${lastName}** | ${sources.map((it) => (it === 'EQUIFAX' ? 'E' : 'T')).join(' ')} | ${about} | ${hitType ?? ''} | ${outcome} |`,
    );
    const page = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    expect(page.split('\n').filter((line) => line.includes('** |'))).toEqual(rows);
  });
});

describe('another name', () => {
  const answer = (firstName: string, lastName: string) =>
    writeFiles(makeInquiry('EQUIFAX', { firstName, lastName }), ORDINARY);

  test('has the same hit file each time, and names differ in their files', () => {
    expect(answer('Maya', 'Tremblay')).toBe(answer('Maya', 'Tremblay'));
    const scores = ['Adams', 'Baker', 'Chen', 'Diaz'].map(
      (name) => /<Value>(\d+)<\/Value>/.exec(answer('Maya', name))?.[1],
    );
    expect(new Set(scores).size).toBeGreaterThan(1);
    expect(answer('Maya', 'Tremblay')).toContain('<HitCode code="1"');
  });
});
