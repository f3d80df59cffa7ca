/** JSON values as literals of the languages of code samples. */
import type { JsonValue } from '../openapi-document.ts';

/** How a language writes the values of JSON. */
export interface Syntax {
  readonly step: string;
  /** What stands inside the braces of an object on one line. */
  readonly padding: string;
  scalar(value: JsonValue): string;
  key(name: string): string;
}

export const TYPE_SCRIPT: Syntax = {
  step: '  ',
  padding: ' ',
  scalar: (value) => (typeof value === 'string' ? singleQuoted(value) : JSON.stringify(value)),
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : singleQuoted(name)),
};
const PYTHON_CONSTANTS = new Map<JsonValue, string>([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);
export const PYTHON: Syntax = {
  step: '    ',
  padding: '',
  scalar: (value) => PYTHON_CONSTANTS.get(value) ?? JSON.stringify(value),
  key: (name) => JSON.stringify(name),
};
const MAX_COLUMNS = 80;

/** The value in the syntax, on one line where that fits. `indent` is that of the line on which it begins. */
export function literal(value: JsonValue, syntax: Syntax, indent: string): string {
  if (value === null || typeof value !== 'object') return syntax.scalar(value);
  const isArray = Array.isArray(value);
  const inner = indent + syntax.step;
  const parts = isArray
    ? value.map((item) => literal(item, syntax, inner))
    : Object.entries(value).map(
        ([name, item]) => `${syntax.key(name)}: ${literal(item, syntax, inner)}`,
      );
  const [open, close, padding] = isArray ? ['[', ']', ''] : ['{', '}', syntax.padding];
  if (parts.length === 0) return open + close;
  const line = `${open}${padding}${parts.join(', ')}${padding}${close}`;
  if (indent.length + line.length < MAX_COLUMNS && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

function singleQuoted(text: string): string {
  return /['\\\n]/.test(text) ? JSON.stringify(text) : `'${text}'`;
}
