/** The answers of the personas: a file each for bureau and persona, with placeholders. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeXml } from '../escape-xml.ts';
import type { ReceivedInquiry, Source } from './inquiry.ts';

/** TransUnion's number of a person whose social insurance number it does not know. */
const FILLER_SIN = '000000000';

/**
 * The XML of `answer.xml` in a folder of the bureau, which is read anew each time. Throws when the folder has
 * none, or when it has a placeholder that the README does not list.
 */
export function answerOf(folder: string, inquiry: ReceivedInquiry): string {
  return readTemplate(inquiry.source, folder, placeholdersOf(inquiry));
}

/** The XML of an answer to a request that the bureau refuses, which repeats nothing but the element that is missing. */
export function refusalOf(source: Source, folder: string, missing = ''): string {
  return readTemplate(source, folder, (name) => (name === 'missing' ? missing : undefined));
}

/** The value of a placeholder; undefined for one that does not exist. */
type Placeholders = (name: string, count: number) => string | undefined;

function readTemplate(source: Source, folder: string, placeholderOf: Placeholders): string {
  const file = join(import.meta.dirname, source.toLowerCase(), folder, 'answer.xml');
  const fill = (placeholder: string, name: string, count: string | undefined) => {
    const value = placeholderOf(name, Number(count ?? 0));
    if (value === undefined) throw new Error(`${file} has an unknown placeholder ${placeholder}`);
    return escapeXml(value);
  };
  const isAbsent = (name: string) => placeholderOf(name, 0) === '';
  return repeatBlocks(readFileSync(file, 'utf8'))
    .replace(LONE_VALUE, (element, _, name: string) => (isAbsent(name) ? '' : element))
    .replace(/\{\{([a-z-]+)(?::(\d+))?\}\}/g, fill);
}

/** An element that holds one placeholder and nothing else: a bureau sends no element for what it does not know. */
const LONE_VALUE = /(?:\n\s*)?<(\w+)[^<>]*>\{\{([a-z-]+)\}\}<\/\1>/g;

/** From a line with `{{repeat:n}}` to one with `{{end}}`. */
const BLOCK = /[^\S\n]*\{\{repeat:(\d+)\}\}\n(.*?)[^\S\n]*\{\{end\}\}\n/gs;

function repeatBlocks(template: string): string {
  return template.replace(BLOCK, (_, times: string, lines: string) =>
    Array.from({ length: Number(times) }, (_, index) =>
      lines.replaceAll('{{row}}', String(index + 1).padStart(4, '0')),
    ).join(''),
  );
}

function placeholdersOf(inquiry: ReceivedInquiry): Placeholders {
  const { source, firstName, lastName, sin, date } = inquiry;
  const isTransUnion = source === 'TRANSUNION';
  /** TransUnion writes dates without hyphens. */
  const written = (isoDate: string) => (isTransUnion ? isoDate.replaceAll('-', '') : isoDate);
  const values: Readonly<Record<string, string>> = {
    reference: inquiry.reference,
    'request-number': inquiry.requestNumber,
    member: inquiry.member,
    'first-name': firstName,
    'last-name': lastName,
    sin: sin === '' && isTransUnion ? FILLER_SIN : sin,
    'date-of-birth': written(inquiry.dateOfBirth),
    today: written(date),
    missing: 'Address',
  };
  return (name, count) => {
    if (name === 'months-ago') return written(monthAt(date, -count));
    if (name === 'months-ahead') return written(monthAt(date, count));
    if (name === 'digits') return digitsOf(`${firstName} ${lastName}`).slice(0, count);
    return Object.hasOwn(values, name) ? values[name] : undefined;
  };
}

/** The month so many months after that of the date, as yyyy-MM. */
function monthAt(date: string, months: number): string {
  const [year = 0, month = 1] = date.split('-').map(Number);
  return new Date(Date.UTC(year, month - 1 + months)).toISOString().slice(0, 'yyyy-MM'.length);
}

/** Eighteen digits that follow from the name, in any case. */
function digitsOf(name: string): string {
  const digest = createHash('sha256').update(name.normalize('NFC').toLowerCase()).digest();
  return (digest.readBigUInt64BE() % 10n ** 18n).toString().padStart(18, '0');
}
