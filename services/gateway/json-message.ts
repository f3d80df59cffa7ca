/** Turns JSON into protobuf messages and back, by the messages' own descriptors. */
import type { DescField, DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import {
  FeatureSet_FieldPresence as Presence,
  type Timestamp,
  TimestampSchema,
  timestampDate,
} from '@bufbuild/protobuf/wkt';
import type { JsonObject, JsonValue } from './openapi-document.ts';

const ID = /Ids?$/;

type Fields = Record<string, unknown>;
type Convert = (value: never) => unknown;

/** Fields left out, by JSON name: those that the API does not show, or shows in its own way. */
export interface Except {
  readonly except?: readonly string[];
}

/**
 * A reader of validated JSON for one kind of message. Enum values stand without their prefix
 * ("APPROVED" for DECISION_VALUE_APPROVED), ids become lower case, unknown properties are passed over.
 */
export function messageReader<D extends DescMessage>(
  desc: D,
  { except = [] }: Except = {},
): (json: JsonObject) => MessageInitShape<D> {
  const plan = desc.fields
    .filter((field) => !except.includes(field.jsonName))
    .map((field) => ({ from: field.jsonName, to: field.localName, convert: fieldReader(field) }));
  return (json) => translate(json, plan) as MessageInitShape<D>;
}

/**
 * A writer of one kind of message as JSON. What is not set is left out, and so is an empty string
 * of a field that has no other way of being absent; instants are RFC 3339.
 */
export function messageWriter<D extends DescMessage>(
  desc: D,
  { except = [] }: Except = {},
): (message: MessageShape<D>) => JsonObject {
  const plan = desc.fields
    .filter((field) => !except.includes(field.jsonName))
    .map((field) => ({ from: field.localName, to: field.jsonName, convert: fieldWriter(field) }));
  return (message) => translate(message as Fields, plan) as JsonObject;
}

function translate(source: Fields, plan: { from: string; to: string; convert: Convert }[]): Fields {
  const result: Fields = {};
  for (const { from, to, convert } of plan) {
    const value = source[from];
    if (value === undefined) continue;
    const converted = convert(value as never);
    if (converted !== undefined) result[to] = converted;
  }
  return result;
}

function fieldReader(field: DescField): Convert {
  if (field.fieldKind === 'list') {
    const item = itemReader(field);
    return (values: JsonValue[]) => values.map((value) => item(value as never));
  }
  return itemReader(field);
}

function itemReader(field: DescField): Convert {
  if (field.message !== undefined) return messageReader(field.message);
  if (field.enum !== undefined) {
    const numbers = new Map(field.enum.values.map(({ localName, number }) => [localName, number]));
    return (name: string) => numbers.get(name);
  }
  // Ids are UUIDs, which may come in either case; the services compare them as text.
  return ID.test(field.localName) ? (id: string) => id.toLowerCase() : same;
}

function fieldWriter(field: DescField): Convert {
  if (field.fieldKind === 'list') {
    const item = itemWriter(field);
    return (values: unknown[]) => values.map((value) => item(value as never));
  }
  const item = itemWriter(field);
  if (field.presence !== Presence.IMPLICIT) return item;
  return (value: unknown) => (value === '' ? undefined : item(value as never));
}

function itemWriter(field: DescField): Convert {
  if (field.message?.typeName === TimestampSchema.typeName) {
    return (instant: Timestamp) => timestampDate(instant).toISOString();
  }
  if (field.message !== undefined) return messageWriter(field.message);
  if (field.enum !== undefined) {
    const names = new Map(field.enum.values.map(({ localName, number }) => [number, localName]));
    return (number: number) => (number === 0 ? undefined : names.get(number));
  }
  // Counters of ours stay far below 2⁵³.
  return (value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
}

function same(value: unknown): unknown {
  return value;
}
