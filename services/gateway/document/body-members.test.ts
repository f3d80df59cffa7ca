import { Fault, type FieldFault } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { memberNamesOf, OTHER_NAMES } from './body-members.ts';
import { type JsonObject, mergedSchema, openApiDocument } from './openapi-document.ts';
import { operationsOf } from './operation.ts';
import { RequestGenerator } from './test-requests.ts';
import type { ValueSchema } from './test-schema-values.ts';
import { compileValidators } from './validation.ts';

type NamedSchema = ValueSchema & { [OTHER_NAMES]?: string[] };

const document = openApiDocument();
const allNames = memberNamesOf(document);
const operations = operationsOf(document).filter(({ body }) => body !== undefined);
const validators = compileValidators(document, operations);

/** An object of a request's body, through the first item of each array. */
interface Place {
  operation: string;
  at: string[];
  schema: NamedSchema;
}

function* objectsIn(operation: string, given: NamedSchema, at: string[] = []): Generator<Place> {
  const schema = mergedSchema(document, given as ValueSchema);
  if (schema.items) yield* objectsIn(operation, schema.items, [...at, '0']);
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length > 0) yield { operation, at, schema };
  for (const [name, property] of properties) yield* objectsIn(operation, property, [...at, name]);
}

const generators = operations.map((it) => new RequestGenerator(document, it, {}));
const places = generators.flatMap(({ operation, bodySchema = {} }) => [
  ...objectsIn(operation.id, bodySchema),
]);
const completeBodies = new Map(
  generators.map((it) => [it.operation.id, it.completeBody(1)] as const),
);
const namesOf = ({ schema }: Place) => Object.keys(schema.properties ?? {});

/** A body with every property, changed at a place. */
function changed({ operation, at }: Place, change: (object: JsonObject) => void): unknown {
  const body = structuredClone(completeBodies.get(operation));
  change(at.reduce((value, name) => (value as JsonObject)[name], body) as JsonObject);
  return body;
}

function faultsOf({ operation }: Place, body: unknown): readonly FieldFault[] {
  try {
    validators.get(operation)?.body(body);
    return [];
  } catch (error) {
    return error instanceof Fault ? error.fields : expect.unreachable();
  }
}

/** The member that the gateway takes another name for. */
function meantBy(place: Place, name: string): string | undefined {
  const body = changed(place, (object) => Object.assign(object, { [name]: 1 }));
  const [, meant] = /did you mean (\w+)\?$/.exec(faultsOf(place, body)[0]?.message ?? '') ?? [];
  return meant;
}

describe('null', () => {
  test.each(places)('is the absence of an optional member of $operation $at alone', (place) => {
    for (const name of namesOf(place)) {
      const isRequired = place.schema.required?.includes(name) ?? false;
      const body = changed(place, (object) => Object.assign(object, { [name]: null }));
      const pointer = [...place.at, name].map((step) => `/${step}`).join('');
      const pointers = faultsOf(place, body).map((fault) => fault.pointer);
      expect(pointers, name).toEqual(isRequired ? [pointer] : []);
      const holder = place.at.reduce((value, step) => (value as JsonObject)[step], body);
      expect(Object.hasOwn(holder as object, name), name).toBe(isRequired);
    }
  });
});

describe('an unknown member', () => {
  test.each([
    '1e17',
    '-9007199254740993',
    '1e400',
    '"\\u0000"',
    '"\\ud83d"',
    '{"interest_rate":1}',
    '[null]',
  ])('with the value %s is passed over, wherever it is', (value) => {
    for (const place of places) {
      if (place.operation === 'replayDeliveries') continue;
      const body = changed(place, (object) =>
        Object.assign(object, { 'x-our-own': JSON.parse(value) }),
      );
      expect(faultsOf(place, body), place.operation).toEqual([]);
    }
  });
});

describe('a name that is no member', () => {
  const decision = places.find(({ operation }) => operation === 'recordDecision') as Place;

  test('means a member in each spelling with other case, underscores or dashes', () => {
    const wrong = places.flatMap((place) =>
      namesOf(place).flatMap((name) => {
        const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`);
        const spellings = [snake, snake.toLowerCase(), snake.replaceAll('_', '-')];
        return [...spellings, name.toUpperCase(), name[0]?.toUpperCase() + name.slice(1)]
          .filter((other) => other !== name && meantBy(place, other) !== name)
          .map((other) => `${other} is not ${name}`);
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('means a member when two letters of a long name are missing or swapped', () => {
    const wrong = places.flatMap((place) =>
      namesOf(place)
        .filter((name) => name.length >= 8 && !/\d/.test(name))
        .flatMap((name) => {
          const [first = '', second = '', third = ''] = name.slice(1);
          const others = [
            name[0] + name.slice(3),
            name.slice(0, 4) + name.slice(5, -1),
            `${name[0]}${second}${first}${third}${name.slice(4)}e`,
          ];
          return others
            .filter((other) => other !== name && !allNames.has(other))
            .filter((other) => meantBy(place, other) === undefined)
            .map((other) => `${other} is not ${name}`);
        }),
    );
    expect(wrong).toEqual([]);
  });

  test.each([
    ['interest_rate', 'interestRate'],
    ['frequency', 'paymentFrequency'],
    ['cashDown', 'downPayment'],
    ['cash_down', 'downPayment'],
    ['trem', 'term'],
  ])('is refused with what it means: %s means %s in a decision', (name, known) => {
    const body = changed(decision, (object) => Object.assign(object, { [name]: 12.99 }));
    const message = `is not known here: did you mean ${known}?`;
    expect(faultsOf(decision, body)).toEqual([{ pointer: `/${name}`, message }]);
  });

  test('and that the interface has elsewhere means a member only as its plural or by another name for it', () => {
    const pairs = places.flatMap((place) =>
      [...allNames]
        .filter((name) => !namesOf(place).includes(name))
        .flatMap((name) => {
          const meant = meantBy(place, name);
          return meant === undefined ? [] : [`${name} → ${meant}`];
        }),
    );
    expect([...new Set(pairs)].sort()).toEqual([
      'approvedPayment → paymentAmount',
      'cashDown → downPayment',
      'consent → consents',
      'creditorFee → lenderAdminFee',
      'creditorId → creditorIds',
      'creditorIds → creditorId',
      'downPayment → cashDown',
      'event → events',
      'events → event',
      'extServiceContract → extendedWarranty',
      'extendedWarranty → extServiceContract',
      'frequency → incomeFrequency',
      'frequency → paymentFrequency',
      'lenderAdminFee → creditorFee',
      'paymentAmount → worksheetPayment',
      'paymentFrequency → frequency',
      'phoneNumber → employmentPhone',
      'reasons → reason',
      'retailerGroupId → retailerGroupIds',
      'retailerGroupIds → retailerGroupId',
      'retailerId → retailerIds',
      'retailerIds → retailerId',
      'userId → revokedBy',
      'worksheetPayment → paymentAmount',
    ]);
  });

  test.each(['basePrice', 'listPrice', 'apr', 'team', 'dealId', 'notes', 'programId', 'tierId'])(
    'is passed over when it is far from all members: %s in a decision',
    (name) => {
      expect(meantBy(decision, name)).toBeUndefined();
    },
  );
});
