/** Equifax Canada's notation of amounts, counts, dates and codes, as elements. */
import { element, group, text } from '../xml-text.ts';
import { codeOf } from './codes.ts';

/** Whole dollars with leading zeros, as in `00686`. The format has no cents. */
export function amount(name: string, dollars: number | undefined): string {
  return text(name, dollars === undefined ? undefined : padNumber(dollars, 5));
}

/** A count with a leading zero, as in `07`. */
export function count(name: string, value: number | undefined): string {
  return text(name, value === undefined ? undefined : padNumber(value, 2));
}

/** A whole number with leading zeros; the sign of a negative one comes first. */
export function padNumber(value: number, digits: number): string {
  const rounded = Math.round(value);
  return `${rounded < 0 ? '-' : ''}${String(Math.abs(rounded)).padStart(digits, '0')}`;
}

/** A month as in `2024-07`, which is all that the older sections say of a day. */
export function month(name: string, date: string | undefined): string {
  return text(name, date?.slice(0, 'yyyy-MM'.length));
}

/** An empty element whose attributes have the code of a value and its description. */
export function coded(name: string, value: string | undefined, ...contents: string[]): string {
  if (value === undefined && contents.every((it) => it === '')) return '';
  return element(name, codeOf(name, value), ...contents);
}

export function narratives(values: readonly string[] | undefined): string {
  return group('Narratives', ...(values ?? []).map((value) => coded('Narrative', value)));
}

/** The number and name of a member, court or agency, with the telephone where it has one. */
export function party(
  name: string,
  it: { id?: string; name?: string; phoneNumber?: string } | undefined,
): string {
  return group(
    name,
    text('CustomerNumber', it?.id),
    text('Name', it?.name),
    telephone(it?.phoneNumber),
  );
}

const AREA_CODE_DIGITS = 3;
const NUMBER_DIGITS = 7;

/** Area code, number and extension, which is everything beyond ten digits. */
export function telephone(phoneNumber: string | undefined): string {
  const digits = phoneNumber?.replace(/\D/g, '') ?? '';
  const end = AREA_CODE_DIGITS + NUMBER_DIGITS;
  const part = (name: string, from: number, to?: number) =>
    text(name, digits.slice(from, to) || undefined);
  const parsed = group(
    'ParsedTelephone',
    part('AreaCode', 0, AREA_CODE_DIGITS),
    part('Number', AREA_CODE_DIGITS, end),
    part('Extension', end),
  );
  return group('Telephone', parsed);
}
