/** The ids of a request. They are made lower case once, before its handler: tables and comparisons have them so. */
import { type DescMessage, getOption, type Message } from '@bufbuild/protobuf';
import {
  type FieldRules,
  field as fieldRules,
} from '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js';

/** The fields of a kind of message that are ids, lists of ids, or messages that contain ids. */
export type IdFields = readonly IdField[];

interface IdField {
  readonly name: string;
  /** The oneof that the field is a case of. */
  readonly oneof: string | undefined;
  /** Of the message in the field, or of each message in the list; empty for ids. */
  readonly inner: IdFields;
}

type Value = string | Message | Value[];
type Holder = { case?: string; [key: string]: Value | undefined };

/** An id is a text whose proto requires a UUID. Maps are left out: `listLimitsOf` refuses them. */
export function idFieldsOf({ fields }: DescMessage): IdFields {
  return fields.flatMap((field) => {
    const inner = field.message === undefined ? [] : idFieldsOf(field.message);
    if (inner.length === 0 && !requiresUuid(getOption(field, fieldRules))) return [];
    return [{ name: field.localName, oneof: field.oneof?.localName, inner }];
  });
}

function requiresUuid({ type }: FieldRules): boolean {
  if (type.case === 'repeated') {
    return type.value.items !== undefined && requiresUuid(type.value.items);
  }
  if (type.case !== 'string') return false;
  const { wellKnown } = type.value;
  return wellKnown.case === 'uuid' && wellKnown.value;
}

/** Makes the ids of a message lower case, in place. */
export function lowerCaseIds(fields: IdFields, message: Message): void {
  for (const { name, oneof, inner } of fields) {
    const record = message as unknown as Record<string, unknown>;
    // A oneof is an object with the name of the field that is set, and its value.
    const holder = (oneof === undefined ? record : record[oneof]) as Holder;
    if (oneof !== undefined && holder.case !== name) continue;
    const key = oneof === undefined ? name : 'value';
    const value = holder[key];
    if (value !== undefined) holder[key] = lowerCased(value, inner);
  }
}

function lowerCased(value: Value, inner: IdFields): Value {
  if (typeof value === 'string') return value.toLowerCase();
  if (Array.isArray(value)) return value.map((item) => lowerCased(item, inner));
  lowerCaseIds(inner, value);
  return value;
}
