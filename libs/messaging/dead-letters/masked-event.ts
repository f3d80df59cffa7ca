/** What an operator sees of an event: its ids, names, times and numbers, and of every other text its length. */
import type { JsonValue } from '@bufbuild/protobuf';
import { isCanonicalUuid } from '@creditlane/runtime/ids';

/** The name of a value of an enum, which begins with the name of the enum. */
const ENUM_NAME = /^[A-Z]+(_[A-Z\d]+)+$/;
const TIME = /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/;
/** 64-bit numbers are texts in protobuf JSON; a longer one may be a number that names a person. */
const NUMBER = /^-?\d{1,6}$/;
/** The name of a type of event. */
const TYPE_NAME = /^[a-z]+(\.[a-z\d]+)+\.[A-Z]\w{0,60}$/;

const SHOWN = [ENUM_NAME, TIME, NUMBER, TYPE_NAME];

export function maskText(text: string): string {
  const isShown = isCanonicalUuid(text) || SHOWN.some((pattern) => pattern.test(text));
  return isShown ? text : `<${text.length} characters>`;
}

/** Masks the texts of an event's protobuf JSON; the names of its fields stay. */
export function maskValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map(maskValue);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, maskValue(part)]));
}
