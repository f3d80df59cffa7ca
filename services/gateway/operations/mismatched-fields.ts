/** Types that compare the fields that a handler reads or writes with those that the OpenAPI document describes. */

/**
 * The paths of the fields of `Actual` that `Described` lacks or has with another type; `never` when there
 * are none. Additional fields of `Described` are ignored.
 */
export type MismatchedFields<Actual, Described> = [Actual] extends [never]
  ? never
  : Actual extends Buffer | undefined | null
    ? never
    : Actual extends readonly (infer Item)[]
      ? Described extends readonly (infer DescribedItem)[]
        ? Path<'0', MismatchedFields<Item, NonNullable<DescribedItem>>>
        : ''
      : Actual extends object
        ? Described extends object
          ? FieldsOf<Actual, Described>
          : ''
        : Actual extends Described
          ? never
          : Described extends Actual
            ? never
            : '';

type FieldsOf<Actual, Described> = {
  [Name in keyof Actual & string]-?: Name extends keyof Described
    ? Path<Name, MismatchedFields<NonNullable<Actual[Name]>, NonNullable<Described[Name]>>>
    : Name;
}[keyof Actual & string];

type Path<Name extends string, Below> = Below extends string
  ? Below extends ''
    ? Name
    : `${Name}.${Below}`
  : never;

/**
 * The type of an answer that a handler may return for a described type. String literals become strings,
 * because the messages of the services have enum values as strings. An optional field may be undefined,
 * which JSON leaves out.
 */
export type Answerable<T> = T extends Buffer
  ? T
  : T extends string
    ? string
    : T extends readonly (infer Item)[]
      ? Answerable<Item>[]
      : T extends object
        ? { [Name in RequiredName<T>]: Answerable<T[Name]> } & {
            [Name in Exclude<keyof T, RequiredName<T>>]?: Answerable<T[Name]> | undefined;
          }
        : T;

type RequiredName<T> = {
  [Name in keyof T]-?: object extends Pick<T, Name> ? never : Name;
}[keyof T];
