// The page of the protocol's models: every step of a model is on it, and every function that it names exists.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, listFiles, ROOT, readLines, readText } from './repository.ts';

const PAGE = 'test/protocol/README.md';
/** A row of the tables: steps, and their function with its file; no function for what the service does not do. */
const ROW = /^\| (`.*?`) \| (?:`(\w+)` \| ([\w./-]+)|– \| .*) \|$/;

/** Rows whose step or function does not exist, and steps of the models that no row names. */
export function findStaleModelSteps(): Finding[] {
  const steps = new Map(
    listFiles('.als').flatMap((file) => stepsOf(file).map((step) => [step, file] as const)),
  );
  const named = new Set<string>();
  const findings = readLines(PAGE).flatMap((line, index) => {
    const [, cell = '', name = '', file] = ROW.exec(line) ?? [];
    const own = cell.match(/\w+/g) ?? [];
    for (const step of own) named.add(step);
    const place = `${PAGE}:${index + 1}`;
    const unknown = own.filter((step) => !steps.has(step));
    return [
      ...unknown.map((step) => `${place} no model has the step "${step}"`),
      ...(file === undefined || declares(file, name) ? [] : [`${place} ${file} has no "${name}"`]),
    ];
  });
  const missing = [...steps].filter(([step]) => !named.has(step));
  return [...findings, ...missing.map(([step, file]) => `${file}:1 "${step}" is not in ${PAGE}`)];
}

/** The steps that the facts of a model compose: all of its predicates that it applies there. */
function stepsOf(file: string): string[] {
  const [, facts = ''] =
    /\bfact Steps \{[\s\S]*?always \{([\s\S]*?)\n {2}\}/.exec(readText(file)) ?? [];
  return (facts.match(/\w+(?=\[)|\b[a-z]\w+(?= or |\n)/g) ?? []).filter((it) => it !== 'nothing');
}

function declares(file: string, name: string): boolean {
  if (!existsSync(join(ROOT, file))) return false;
  return new RegExp(`(function|const) ${name}\\b|^ +(async )?#?${name}\\(`, 'm').test(
    readText(file),
  );
}
