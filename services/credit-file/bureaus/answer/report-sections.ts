/** The sections of a report: which of them were read, and what the others hold. */
import type { CreditFile } from '../../credit-file.ts';
import type { AnswerValues } from './answer-values.ts';
import { findElement, findElements } from './find-element.ts';
import type { XmlElement } from './xml-document.ts';

type AlsoReported = NonNullable<CreditFile['alsoReported']>;

/** In the place of a code: an entry of a section for which the credit file has no field. */
const NOT_READ = '(not read)';
const MAX_SECTIONS = 100;
const MAX_NAME_LENGTH = 60;

/** The children of a report by name. A section that nobody has asked for is listed by `alsoReported`. */
export class ReportSections {
  readonly #report: XmlElement;
  /** Entries of read lists that were left out, by their paths. */
  readonly #left = new Map<string, number>();
  /** By the name of a section, the names of its entries that were read; undefined for a section that was read as a whole. */
  readonly #read = new Map<string, Set<string> | undefined>();

  constructor(report: XmlElement) {
    this.#report = report;
  }

  /** A section that is read as a whole. */
  find(name: string): XmlElement | undefined {
    this.#read.set(name, undefined);
    return findElement(this.#report, name);
  }

  /** The entries of a list: a path of the section's name and that of its entries, such as "CNTrades/CNTrade". */
  list(path: string): readonly XmlElement[] {
    const [section = '', entry, ...others] = path.split('/');
    const entries = this.#read.get(section) ?? new Set();
    const isWhole = entry === undefined || others.length > 0;
    this.#read.set(section, isWhole ? undefined : entries.add(entry));
    return findElements(this.#report, path);
  }

  /** Says that these entries of a list could not be used. */
  leave(path: string, entries: readonly XmlElement[]): void {
    this.#left.set(path, entries.length);
  }

  /** What was not read, by name. Each entry of it is counted. */
  alsoReported(values: AnswerValues): AlsoReported {
    const counts = new Map<string, number>();
    const add = (section: string, count: number) => {
      const name = section.slice(0, MAX_NAME_LENGTH);
      if (count > 0 && (counts.has(name) || counts.size < MAX_SECTIONS)) {
        counts.set(name, (counts.get(name) ?? 0) + count);
      }
    };
    for (const [path, count] of this.#left) add(path, count);
    for (const section of this.#report.children) {
      const entries = this.#read.get(section.name);
      if (!this.#read.has(section.name)) add(section.name, countEntries(section));
      if (entries === undefined) continue;
      for (const { name } of section.children) {
        if (!entries.has(name)) add(`${section.name}/${name}`, 1);
      }
    }
    const byName = [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return byName.map(([section, count]) => {
      for (let entry = 0; entry < count; entry += 1)
        values.leaveOut(this.#report, section, NOT_READ);
      return { section, count };
    });
  }
}

/** The children of a list, which all have one name; otherwise 1 for a section that has anything. */
function countEntries(section: XmlElement): number {
  const names = new Set(section.children.map(({ name }) => name));
  if (names.size === 1) return section.children.length;
  return hasContents(section) ? 1 : 0;
}

function hasContents({ text, attributes, children }: XmlElement): boolean {
  const texts = [text, ...Object.values(attributes)];
  return children.length > 0 || texts.some((it) => it.trim() !== '');
}
