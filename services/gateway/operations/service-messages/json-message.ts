/** Turns JSON into protobuf messages and back, by the messages' own descriptors. */
import type {
  DescField,
  DescMessage,
  Message,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import {
  FeatureSet_FieldPresence as Presence,
  type Timestamp,
  TimestampSchema,
  timestampDate,
} from '@bufbuild/protobuf/wkt';
import type { JsonValue } from '../../document/openapi-document.ts';
import type { MismatchedFields } from '../mismatched-fields.ts';

type Fields = Record<string, unknown>;
type Convert = (value: never) => unknown;

/**
 * A message as JSON. An enum value has the type string, because types cannot derive the names of an enum.
 * A field that holds a message is required, because proto3 cannot declare one as required.
 */
export type MessageJson<M, Name extends keyof M = FieldName<M>> = {
  [N in Name as NonNullable<M[N]> extends Message ? never : N]: ValueJson<M[N]>;
} & {
  [N in Name as NonNullable<M[N]> extends Message ? N : never]-?: ValueJson<NonNullable<M[N]>>;
};

type FieldName<M> = Exclude<keyof M, keyof Message>;

type ValueJson<V> = V extends Timestamp
  ? string
  : V extends Message
    ? MessageJson<V>
    : V extends readonly (infer Item)[]
      ? ValueJson<Item>[]
      : V extends bigint
        ? number
        : V extends number
          ? NumberOrEnum<V>
          : V;

/** Distinguishes enums from numbers: TypeScript converts only `number` itself to the template `${number}`. */
type NumberOrEnum<V extends number> = `${number}` extends `${V}` ? number : string;

/** The fields to make a message from; protobuf-es would also accept an existing message. */
type Init<D extends DescMessage> = Exclude<MessageInitShape<D>, MessageShape<D>>;

/** The JSON names of fields to leave out, because the API does not have them or has another form of them. */
export interface Except<Name extends PropertyKey> {
  readonly except?: readonly Name[];
}

/** Makes tsc refuse a JSON type that lacks a field which the reader reads from it. */
type Described<Json, M, Name extends keyof M> = [
  MismatchedFields<MessageJson<M, Name>, Json>,
] extends [never]
  ? unknown
  : { 'the document does not describe': MismatchedFields<MessageJson<M, Name>, Json> };

/**
 * A reader of validated JSON for one kind of message. Enum values are written without their prefix
 * ("APPROVED" for DECISION_VALUE_APPROVED). Unknown properties are ignored.
 */
export function messageReader<
  D extends DescMessage,
  const Left extends FieldName<MessageShape<D>> = never,
>(desc: D, { except = [] }: Except<Left> = {}) {
  const plan = planOf(desc, except, fieldReader, 'read');
  return <Json extends object>(
    json: Json & Described<Json, MessageShape<D>, Exclude<FieldName<MessageShape<D>>, Left>>,
  ): Init<D> => translate(json as unknown as Fields, plan) as unknown as Init<D>;
}

/**
 * A writer of one kind of message as JSON. Unset fields are left out, and so are empty strings of fields
 * without presence. Timestamps are in the format of RFC 3339.
 */
export function messageWriter<
  D extends DescMessage,
  const Left extends FieldName<MessageShape<D>> = never,
>(desc: D, { except = [] }: Except<Left> = {}) {
  const plan = planOf(desc, except, fieldWriter, 'write');
  type Written = MessageJson<MessageShape<D>, Exclude<FieldName<MessageShape<D>>, Left>>;
  return (message: MessageShape<D>): Written =>
    translate(message as unknown as Fields, plan) as unknown as Written;
}

type Plan = readonly { from: string; to: string; convert: Convert }[];

function planOf(
  desc: DescMessage,
  except: readonly PropertyKey[],
  converter: (field: DescField) => Convert,
  direction: 'read' | 'write',
): Plan {
  return desc.fields
    .filter((field) => !except.includes(field.jsonName))
    .map((field) => {
      const [from, to] =
        direction === 'read'
          ? [field.jsonName, field.localName]
          : [field.localName, field.jsonName];
      return { from, to, convert: converter(field) };
    });
}

function translate(source: Fields, plan: Plan): Fields {
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
  if (field.message !== undefined) {
    const plan = planOf(field.message, [], fieldReader, 'read');
    return (json: Fields) => translate(json, plan);
  }
  if (field.enum !== undefined) {
    const numbers = new Map(field.enum.values.map(({ localName, number }) => [localName, number]));
    return (name: string) => numbers.get(name);
  }
  return same;
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
  if (field.message !== undefined) {
    const plan = planOf(field.message, [], fieldWriter, 'write');
    return (message: Fields) => translate(message, plan);
  }
  if (field.enum !== undefined) {
    const names = new Map(field.enum.values.map(({ localName, number }) => [number, localName]));
    return (number: number) => (number === 0 ? undefined : names.get(number));
  }
  // The counters of the services stay far below 2⁵³.
  return (value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
}

function same(value: unknown): unknown {
  return value;
}
