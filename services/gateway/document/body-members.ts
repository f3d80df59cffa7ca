/** Reads the described members of a body, before its values are checked against their schemas. */
import type { FieldFault } from '@creditlane/rpc/fault';
import { misspellingsOf } from './misspelt-names.ts';
import { mergedSchema, type OpenApiDocument } from './openapi-document.ts';
import { shortPointerStep } from './validation-messages.ts';

/** On the schema of a member: the names that the interface has elsewhere for the same thing. */
export const OTHER_NAMES = 'x-other-names';

/**
 * Takes the optional members that are null out of a body, because null is their absence, and returns what is wrong with the
 * others: a name that means a described one and does not spell it, a text that PostgreSQL cannot store, and a number whose
 * value parsers disagree about. Members that are not described are passed over, whatever they hold.
 */
export type ReadMembers = (body: unknown) => FieldFault[];

/** What is read of a value. */
interface Plan {
  readonly members: ReadonlyMap<string, Plan>;
  readonly required: readonly string[];
  readonly items: Plan | undefined;
  /** The described member that another name means. */
  readonly meant: (name: string) => string | undefined;
  /** Whether every member of the value, and all below, is kept as it is. */
  readonly keepsAll: boolean;
}

interface MemberSchema {
  $ref?: string;
  allOf?: MemberSchema[];
  properties?: Record<string, MemberSchema>;
  required?: string[];
  items?: MemberSchema;
  additionalProperties?: boolean;
  [OTHER_NAMES]?: string[];
}

/**
 * Makes the reader of the bodies that a schema describes.
 *
 * @param allNames of the document, as `memberNamesOf` returns them
 */
export function memberReader(
  document: OpenApiDocument,
  schema: MemberSchema,
  allNames: ReadonlySet<string>,
): ReadMembers {
  const plan = planOf(document, schema, allNames);
  return (body) => {
    const faults: FieldFault[] = [];
    readValue(body, plan, '', faults);
    return faults;
  };
}

/** The names of all members that the document describes, in requests, answers and webhooks. */
export function memberNamesOf(part: unknown): Set<string> {
  if (typeof part !== 'object' || part === null) return new Set();
  const { properties } = part as { properties?: unknown };
  const own = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return new Set([...own, ...Object.values(part).flatMap((it) => [...memberNamesOf(it)])]);
}

function planOf(
  document: OpenApiDocument,
  given: MemberSchema,
  allNames: ReadonlySet<string>,
): Plan {
  const schema = mergedSchema(document, given);
  const { properties = {}, required = [], items, additionalProperties } = schema;
  const described = Object.entries(properties).map(
    ([name, property]) => [name, mergedSchema(document, property)] as const,
  );
  const renamed = new Map(
    described.flatMap(([name, property]) =>
      (property[OTHER_NAMES] ?? []).map((other) => [other, name] as const),
    ),
  );
  const nearest = misspellingsOf([...Object.keys(properties), ...renamed.keys()], allNames);
  return {
    members: new Map(
      described.map(([name, property]) => [name, planOf(document, property, allNames)]),
    ),
    required,
    items: items && planOf(document, items, allNames),
    meant: (name) => {
      const spelt = renamed.has(name) ? name : nearest(name);
      return renamed.get(spelt ?? '') ?? spelt;
    },
    keepsAll: additionalProperties === true,
  };
}

function readValue(value: unknown, plan: Plan, at: string, faults: FieldFault[]): void {
  if (plan.keepsAll) {
    readKept(value, at, faults);
    return;
  }
  addFaultOfText(value, at, faults);
  if (Array.isArray(value)) {
    if (plan.items === undefined) return;
    for (const [index, item] of value.entries()) {
      readValue(item, plan.items, `${at}/${index}`, faults);
    }
  } else if (typeof value === 'object' && value !== null) {
    readObject(value as Record<string, unknown>, plan, at, faults);
  }
}

function readObject(
  value: Record<string, unknown>,
  { members, required, meant }: Plan,
  at: string,
  faults: FieldFault[],
): void {
  for (const [name, member] of Object.entries(value)) {
    const described = members.get(name);
    if (described === undefined) {
      const known = meant(name);
      if (known === undefined) continue;
      const pointer = `${at}/${shortPointerStep(name)}`;
      faults.push({ pointer, message: `is not known here: did you mean ${known}?` });
    } else if (member === null && !required.includes(name)) {
      delete value[name];
    } else {
      readValue(member, described, `${at}/${name}`, faults);
    }
  }
}

/** Reads a value that is kept whole, with all names and values in it. */
function readKept(value: unknown, at: string, faults: FieldFault[]): void {
  addFaultOfText(value, at, faults);
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    const message = `must be within ±${Number.MAX_SAFE_INTEGER}, unless it is a string`;
    faults.push({ pointer: at, message });
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const pointer = `${at}/${shortPointerStep(name)}`;
    addFaultOfText(name, pointer, faults);
    readKept(member, pointer, faults);
  }
}

function addFaultOfText(value: unknown, pointer: string, faults: FieldFault[]): void {
  if (typeof value !== 'string') return;
  if (value.includes('\0')) faults.push({ pointer, message: 'must not contain U+0000' });
  if (!value.isWellFormed()) {
    faults.push({ pointer, message: 'must not contain half of a surrogate pair' });
  }
}
