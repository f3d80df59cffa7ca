// Amounts are whole cents and rates have five decimals at most, wherever a request has one.
import { Fault } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { mergedSchema, openApiDocument } from './openapi-document.ts';
import { operationsOf } from './operation.ts';
import { RequestGenerator } from './test-requests.ts';
import type { ValueSchema } from './test-schema-values.ts';
import { compileValidators } from './validation.ts';

const document = openApiDocument();
const operations = operationsOf(document);
const validators = compileValidators(document, operations);

interface Place {
  operation: string;
  pointer: string;
  decimals: number;
  /** A body with every property, of which the one at the pointer is the value. */
  bodyWith(value: number): unknown;
}

/** The pointers of all numbers with a limit of decimals, through the first item of each array. */
function* numbersIn(given: ValueSchema, pointer = ''): Generator<[string, number]> {
  const schema = mergedSchema(document, given);
  const decimals = schema['x-decimals'];
  if (decimals !== undefined) yield [pointer, decimals];
  if (schema.items) yield* numbersIn(schema.items, `${pointer}/0`);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield* numbersIn(property, `${pointer}/${name}`);
  }
}

function set(body: unknown, pointer: string, value: number): unknown {
  const names = pointer.slice(1).split('/');
  const last = names.pop() ?? '';
  const holder = names.reduce((at, name) => (at as Record<string, object>)[name] ?? {}, body);
  (holder as Record<string, unknown>)[last] = value;
  return body;
}

const PLACES: Place[] = operations.flatMap((operation) => {
  const generator = new RequestGenerator(document, operation, {});
  return [...numbersIn(generator.bodySchema ?? {})].map(([pointer, decimals]) => ({
    ...{ operation: operation.id, pointer, decimals },
    bodyWith: (value) => set(generator.completeBody(1), pointer, value),
  }));
});

const valueAt = (body: unknown, pointer: string) =>
  pointer
    .slice(1)
    .split('/')
    .reduce((at: unknown, name) => (at as Record<string, unknown>)[name], body);

function check({ operation, bodyWith }: Place, value: number): unknown {
  return validators.get(operation)?.body(bodyWith(value));
}

test('all numbers of a request but distances are amounts or rates', () => {
  // In worksheets of applications, submissions and decisions.
  expect(PLACES.length).toBeGreaterThanOrEqual(40);
  const withoutLimit = operations.flatMap((operation) => {
    const { bodySchema } = new RequestGenerator(document, operation, {});
    return [...untyped(bodySchema ?? {})].map((pointer) => `${operation.id}${pointer}`);
  });
  const vehicle = 'submitApplication/worksheet/vehicle/';
  expect(withoutLimit).toEqual([
    `${vehicle}odometer/amount`,
    `${vehicle}odometerKm`,
    'submitApplication/worksheet/drivingDistancePerYear',
  ]);
});

/** The pointers of numbers that may have any decimals. */
function* untyped(given: ValueSchema, pointer = ''): Generator<string> {
  const schema = mergedSchema(document, given);
  if (schema.type === 'number' && schema['x-decimals'] === undefined) yield pointer;
  if (schema.items) yield* untyped(schema.items, `${pointer}/0`);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield* untyped(property, `${pointer}/${name}`);
  }
}

describe.each(PLACES)('$pointer of $operation', (place) => {
  const { pointer, decimals } = place;

  test('loses what binary floating point adds', () => {
    expect(valueAt(check(place, 0.1 + 0.2), pointer)).toBe(0.3);
    expect(valueAt(check(place, 41.37), pointer)).toBe(41.37);
    expect(valueAt(check(place, 60), pointer)).toBe(60);
  });

  test('is refused with more decimals, and the field is named', () => {
    const refused = () => check(place, 10 ** -decimals / 2);
    expect(refused).toThrow(Fault);
    expect(refused).toThrow(`${pointer} must have at most ${decimals} decimals`);
  });
});
