// A row of docs/bureau-formats.md: one element, code or rule of a bureau's format, which has a test of its own.

/** From where it is known: seen in sample answers, read in a public source, or concluded from these. */
export type Known = 'seen' | 'read' | 'concluded';

export interface FormatRow {
  /** The element, with its code or form, or the rule. */
  wire: string;
  /** What becomes of it: the path of a field of the credit file, or a sentence. */
  becomes: string;
  known: Known;
  /** What the bureau answers: each of these gives the value. */
  answers: readonly string[];
  /** Where the value is, in the credit file with `match` and `counted` beside its fields, or in a refusal. */
  path: string;
  /** Undefined for nothing. */
  value: unknown;
}

export interface FormatPart {
  title: string;
  rows: readonly FormatRow[];
}

/** The title of the test of a row. */
export function titleOf({ wire, becomes }: Pick<FormatRow, 'wire' | 'becomes'>): string {
  return `${wire} → ${becomes}`;
}

/** Elements within each other by a path such as "CreditorId/Name"; the last one has the contents and the attributes. */
export function nest(path: string, contents: string, attributes = ''): string {
  const names = path.split('/');
  const last = names.pop() ?? '';
  const inner = `<${last}${attributes}>${contents}</${last}>`;
  return names.reduceRight((within, name) => `<${name}>${within}</${name}>`, inner);
}

/** An element below an entry of a section, its text, the field below the entry's, its value. */
export type ElementTuple = readonly [string, string, string, unknown, Known];

/** The same of a coded element, whose path is empty for the entry itself: with its code and its description. */
export type CodeTuple = readonly [string, string, string, string, unknown, Known];

export interface Section {
  /** The path of an entry, such as "CNTrades/CNTrade". */
  entry: string;
  /** The field of the credit file, such as "trades.0". */
  field: string;
  elements?: readonly ElementTuple[];
  codes?: readonly CodeTuple[];
}

/** The rows of a section. Each answer has one entry, with one element. */
export function rowsOf(
  { entry, field, elements = [], codes = [] }: Section,
  answer: (sections: string) => string,
): FormatRow[] {
  return [
    ...elements.map(([path, text, name, value, known]) => {
      const isAttribute = path.startsWith('@');
      const sections = isAttribute
        ? nest(entry, '', ` ${path.slice(1)}="${text}"`)
        : nest(entry, nest(path, text));
      const at = `${field}.${name}`;
      const wire = `${entry}${isAttribute ? ' ' : '/'}${path} \`${text}\``;
      const becomes = `${at} ${String(value)}`;
      return { wire, becomes, known, answers: [answer(sections)], path: at, value };
    }),
    ...codes.map(([path, code, description, name, value, known]) => {
      const at = `${field}.${name}`;
      const write = (words: string) => {
        const attributes = ` code="${code}" description="${words}"`;
        return answer(
          path === '' ? nest(entry, '', attributes) : nest(entry, nest(path, '', attributes)),
        );
      };
      // The code alone gives the same value as with its description.
      const answers = [write(description), write('')];
      const wire = `${path === '' ? entry : `${entry}/${path}`} \`${code}\`${description && ` ${description}`}`;
      return { wire, becomes: `${at} ${String(value)}`, known, answers, path: at, value };
    }),
  ];
}
