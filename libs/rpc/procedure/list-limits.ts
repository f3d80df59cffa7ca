/** The lengths of a request's lists, which are checked before the rules that look at every item. */
import { type DescField, type DescMessage, getOption, type Message } from '@bufbuild/protobuf';
import { field as fieldRules } from '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js';
import type { FieldFault } from '../fault.ts';

/** The fields of a kind of message that are lists, or messages that contain lists. */
export type ListLimits = readonly LimitedField[];

interface LimitedField {
  readonly name: string;
  readonly jsonName: string;
  /** Undefined for a field that is no list. */
  readonly maxItems: number | undefined;
  /** Of the message in the field, or of each message in the list. */
  readonly inner: ListLimits;
}

/**
 * Throws an Error for a list whose proto sets no `max_items`, so that no request is without limits, and for a list
 * in a oneof.
 */
export function listLimitsOf({ fields }: DescMessage): ListLimits {
  return fields.flatMap((field) => {
    const inner = field.message === undefined ? [] : listLimitsOf(field.message);
    if (field.oneof !== undefined && inner.length === 0) return [];
    const maxItems = maxItemsOf(field);
    if (maxItems === undefined && inner.length === 0) return [];
    return [{ name: field.localName, jsonName: field.jsonName, maxItems, inner }];
  });
}

function maxItemsOf(field: DescField): number | undefined {
  if (field.fieldKind === 'map' || field.oneof !== undefined)
    throw new Error(`${field} has no limit`);
  if (field.fieldKind !== 'list') return undefined;
  const { type } = getOption(field, fieldRules);
  const maxItems = type.case === 'repeated' ? type.value.maxItems : 0n;
  if (maxItems === 0n) throw new Error(`${field} has no max_items`);
  return Number(maxItems);
}

/** The first list that is too long, by its JSON Pointer; undefined when there is none. */
export function findLongList(
  limits: ListLimits,
  message: Message,
  pointer = '',
): FieldFault | undefined {
  for (const { name, jsonName, maxItems, inner } of limits) {
    const value = (message as unknown as Record<string, Message | Message[] | undefined>)[name];
    if (value === undefined) continue;
    const at = `${pointer}/${jsonName}`;
    const list = Array.isArray(value) ? value : undefined;
    if (list !== undefined && maxItems !== undefined && list.length > maxItems) {
      return { pointer: at, message: `must contain no more than ${maxItems} item(s)` };
    }
    if (inner.length === 0) continue;
    for (const [index, item] of (list ?? [value as Message]).entries()) {
      const found = findLongList(inner, item, list === undefined ? at : `${at}/${index}`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
