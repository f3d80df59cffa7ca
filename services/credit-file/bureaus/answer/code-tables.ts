/** The code tables of the bureaus: which value of the interface a code has, and how descriptions are read. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { parse, YAMLParseError } from 'yaml';
import * as values from '../../credit-file-values.ts';

const NARRATIVES: ReadonlySet<string> = new Set([
  ...values.BANKRUPTCY_NARRATIVES,
  ...values.COLLECTION_NARRATIVES,
  ...values.LEGAL_ITEM_NARRATIVES,
  ...values.SECURED_LOAN_NARRATIVES,
  ...values.TRADE_NARRATIVES,
]);

/** The tables, with the values that each may have. */
const PERMITTED = {
  language: values.LANGUAGES,
  hitType: values.HIT_TYPES,
  otherName: values.OTHER_NAME_TYPES,
  province: values.PROVINCES,
  bankruptcyType: values.BANKRUPTCY_TYPES,
  bankruptcyFiler: values.BANKRUPTCY_FILERS,
  bankruptcyDisposition: values.BANKRUPTCY_DISPOSITIONS,
  collectionType: values.COLLECTION_TYPES,
  collectionReason: values.COLLECTION_REASONS,
  legalItemType: values.LEGAL_ITEM_TYPES,
  legalItemStatus: values.LEGAL_ITEM_STATUSES,
  association: values.ASSOCIATIONS,
  portfolioType: values.PORTFOLIO_TYPES,
  paymentRate: new Set<string>([...values.PAYMENT_RATES, ...values.TRADE_STATUSES]),
  paymentFrequency: values.TRADE_NARRATIVES,
  narrative: NARRATIVES,
  specialService: values.SPECIAL_SERVICE_TYPES,
  subjectType: new Set(['SUBJECT']),
  error: new Set<string>(['credentials', 'rejected', 'unavailable']),
} satisfies Record<string, ReadonlySet<string>>;

export type TableName = keyof typeof PERMITTED;

/** The code tables of one bureau. */
export interface CodeTables {
  /** A value of null: the code is known, and the interface has no value for it. */
  readonly codes: Readonly<Record<TableName, ReadonlyMap<string, string | null>>>;
  /** Whole normalised descriptions, and parts of them, by what they are replaced with. */
  readonly descriptions: ReadonlyMap<string, string>;
  readonly words: ReadonlyMap<string, string>;
  /** The paths of elements whose names are not publicly known, by the names of `elements` in the bureau's file. */
  readonly elements: ReadonlyMap<string, string>;
  /** The words of the factors of scores, by their codes. */
  readonly factors: ReadonlyMap<string, string>;
}

export interface BureauCodeTables {
  readonly equifax: CodeTables;
  readonly transUnion: CodeTables;
}

/** Code tables that cannot be used. The message names every wrong entry by its place. */
export class CodeTableError extends LoggableError {}

/**
 * The code tables, and what an operator has changed in them.
 *
 * @param overrides YAML or JSON with `equifax` and `transunion`, each with tables of the same names as
 *   `equifax/codes.yaml` and `transunion/codes.yaml`; each entry replaces that of the same code
 * @throws CodeTableError
 */
export function readCodeTables(overrides = ''): BureauCodeTables {
  const problems: string[] = [];
  const { equifax, transunion, ...others } = readMap(parseTables(overrides), 'the file', problems);
  for (const name of Object.keys(others)) problems.push(`${name} is none of equifax, transunion`);
  const tables = {
    equifax: mergeTables('equifax', equifax, problems),
    transUnion: mergeTables('transunion', transunion, problems),
  };
  if (problems.length > 0) throw new CodeTableError(`code tables: ${problems.join('; ')}`);
  return tables;
}

/** The tables that have no codes. */
const OTHER_TABLES: ReadonlySet<string> = new Set(['descriptions', 'words', 'elements', 'factors']);
/** Names without a namespace's prefix, which the reader drops. */
const ELEMENT_PATH = /^[A-Za-z_][\w.-]*(\/[A-Za-z_][\w.-]*)*$/;

function mergeTables(bureau: string, overrides: unknown, problems: string[]): CodeTables {
  const file = join(import.meta.dirname, '..', bureau, 'codes.yaml');
  const own = readMap(parseTables(readFileSync(file, 'utf8')), bureau, problems);
  const changed = readMap(overrides, bureau, problems);
  for (const name of Object.keys(changed)) {
    const isTable = Object.hasOwn(PERMITTED, name) || OTHER_TABLES.has(name);
    if (!isTable) problems.push(`${bureau}.${name} is no table`);
  }
  const ownElements = readMap(own.elements, bureau, problems);
  for (const name of Object.keys(readMap(changed.elements, `${bureau}.elements`, problems))) {
    if (!Object.hasOwn(ownElements, name)) problems.push(`${bureau}.elements.${name} is not read`);
  }
  const merge = (name: string, isPermitted: (value: unknown) => boolean) => {
    const place = `${bureau}.${name}`;
    const entries = {
      ...readMap(own[name], place, problems),
      ...readMap(changed[name], place, problems),
    };
    return new Map(
      Object.entries(entries).map(([code, value]) => {
        if (!isPermitted(value))
          problems.push(`${place}.${code} cannot be ${JSON.stringify(value)}`);
        return [code, String(value)];
      }),
    );
  };
  const mergeCodes = (name: TableName) => {
    const permitted: ReadonlySet<unknown> = PERMITTED[name];
    const merged = merge(name, (value) => value === NO_VALUE || permitted.has(value));
    return new Map([...merged].map(([code, value]) => [code, value === NO_VALUE ? null : value]));
  };
  const isWording = (value: unknown) => /^[A-Z0-9_]+$/.test(String(value));
  const isElementPath = (value: unknown) =>
    typeof value === 'string' && value !== NO_VALUE && ELEMENT_PATH.test(value);
  return {
    codes: mapTables(mergeCodes),
    descriptions: merge('descriptions', isWording),
    words: merge('words', isWording),
    elements: merge('elements', isElementPath),
    factors: merge('factors', (value) => typeof value === 'string' && value.trim() !== ''),
  };
}

function mapTables<T>(make: (name: TableName) => T): Record<TableName, T> {
  const names = Object.keys(PERMITTED) as TableName[];
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<TableName, T>;
}

/** The text of `null`: all scalars are read as text. */
const NO_VALUE = 'null';

/** The entries of a map of YAML; none for an empty text. */
function readMap(value: unknown, place: string, problems: string[]): Record<string, unknown> {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value === 'object' && !Array.isArray(value)) return { ...value };
  problems.push(`${place} must be a map, not ${JSON.stringify(value)}`);
  return {};
}

/** All scalars as text: a code such as 01 stays different from 1. */
function parseTables(text: string): unknown {
  try {
    return parse(text, { schema: 'failsafe' });
  } catch (error) {
    if (error instanceof YAMLParseError) throw new CodeTableError(`code tables: ${error.message}`);
    throw error;
  }
}
