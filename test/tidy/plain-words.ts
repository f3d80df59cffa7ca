// Names and test titles: words that the code base has replaced, and titles that do not say what they test.
import { type Finding, readText } from './repository.ts';

/**
 * Words that no identifier and no file name may contain, with the term to use instead. Each is a
 * metaphor or a private word that was replaced throughout the code.
 */
const REPLACED_WORDS: Record<string, string> = {
  allowance: 'limit',
  burden: 'table size, load',
  chapter: 'history of one submission',
  door: 'API access, entry point',
  fleet: 'processes',
  furnish: 'seed, prepare',
  gathering: 'batcher',
  heed: 'honour',
  heeds: 'honours',
  house: 'platform',
  imagine: 'make, generate',
  imagined: 'generated',
  judge: 'check',
  laptop: 'local platform',
  leash: 'parent-death watchdog',
  neighbour: 'replica',
  neighbours: 'replicas',
  offence: 'violation',
  poke: 'wake',
  room: 'package, folder',
  surroundings: 'dependencies, settings',
  told: 'notified',
  trespass: 'forbidden use',
  twin: 'duplicate request',
  untold: 'not notified, without a webhook',
  whereabouts: 'address, endpoint',
  workload: 'concurrency limiter',
  world: 'test platform, fixture',
};

/** Comments, strings and regular expressions, which are skipped, or an identifier. */
const TOKEN =
  /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[(,=:!&|?{};]\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/|[A-Za-z_$][\w$]*/g;
const IS_IDENTIFIER = /^[A-Za-z_$]/;
/** The words of `camelCase`, `PascalCase`, `UPPER_CASE` and `kebab-case` names. */
const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

/** Every file name and every identifier that contains a replaced word; each once per file. */
export function findReplacedWords(sourceFiles: string[]): Finding[] {
  return sourceFiles.flatMap((file) => {
    const inName = file.split('/').flatMap((part) => explainWords(part).map((why) => `:1 ${why}`));
    const seen = new Set<string>();
    const text = readText(file);
    const inCode = [...text.matchAll(TOKEN)].flatMap((match) => {
      const [token] = match;
      if (!IS_IDENTIFIER.test(token) || seen.has(token)) return [];
      seen.add(token);
      return explainWords(token).map((why) => `:${lineAt(text, match.index)} ${why}`);
    });
    return [...inName, ...inCode].map((finding) => file + finding);
  });
}

/** What is wrong with a name, for each replaced word in it. */
function explainWords(name: string): string[] {
  const words = (name.match(WORD) ?? []).map((word) => word.toLowerCase());
  return words
    .filter((word) => Object.hasOwn(REPLACED_WORDS, word))
    .map((word) => `"${name}" contains "${word}": write "${REPLACED_WORDS[word]}"`);
}

/** `test('title',`, `describe('title',` and `test.each(cases)('title',`. */
const TITLE =
  /(?:\b(?:test|describe|it)(?:\.\w+)?|\))\(\s*(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`)\s*,/g;
/** "that" is allowed: below `describe('a key')`, the title `that was revoked is refused` is a clause. */
const PRONOUN =
  /^(it|its|they|their|them|he|she|we|you|this|these|those|ones|who|whoever|what|nobody|somebody|anybody|everybody|such)\b/i;

/** Every title of a test or of a group of tests that is empty or begins with a pronoun. */
export function findUnclearTitles(testFiles: string[]): Finding[] {
  return testFiles.flatMap((file) => {
    const text = readText(file);
    return [...text.matchAll(TITLE)].flatMap((match) => {
      const title = match[1] ?? match[2] ?? match[3] ?? '';
      const place = `${file}:${lineAt(text, match.index)}`;
      if (title.trim() === '') return [`${place} the title is empty: say condition and result`];
      const [pronoun] = PRONOUN.exec(title) ?? [];
      return pronoun ? [`${place} "${title}": name what "${pronoun}" stands for`] : [];
    });
  });
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
