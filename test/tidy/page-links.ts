/** The links of the Markdown pages to files and headings of the repository. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type Finding, findInLines, listFiles, ROOT, readLines } from './repository.ts';

const LINK = /\]\(([^)\s]+)\)/g;
const ELSEWHERE = /^([a-z]+:|\/)/;

/** The links that lead to no file, or to no heading of the page. */
export function findBrokenLinks(pages: string[] = listFiles('.md')): Finding[] {
  return findInLines(pages, (line, page) => {
    const targets = [...line.matchAll(LINK)].map(([, target = '']) => target);
    const broken = targets.filter((target) => !ELSEWHERE.test(target) && !leads(page, target));
    return broken.length === 0 ? undefined : `${broken.join(', ')}: the link leads nowhere`;
  });
}

function leads(page: string, target: string): boolean {
  const [path = '', heading] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(ROOT, file))) return false;
  if (heading === undefined || !file.endsWith('.md')) return true;
  return readLines(file).some((line) => line.startsWith('#') && anchorOf(line) === heading);
}

/** The anchor that renderers of Markdown give to a heading. */
function anchorOf(line: string): string {
  const text = line.replace(/^#+\s*/, '').toLowerCase();
  return text.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
}
