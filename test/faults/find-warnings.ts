/** Finds the warnings and errors in what a platform has printed. */

/** A line of the log for people, or of a service's log behind its name. */
const WARNING = /^(\S+: )?\d\d:\d\d:\d\d\.\d{3} (WARN|ERROR|FATAL) /;

/** The entries of the log with these levels, each with the lines of its error. */
export function findWarnings(output: string): string[] {
  const entries: string[] = [];
  let isWarning = false;
  for (const line of output.split('\n')) {
    // The lines of an error are indented.
    if (!line.startsWith('  ')) isWarning = WARNING.test(line);
    if (!isWarning) continue;
    if (line.startsWith('  ')) entries.push(`${entries.pop()}\n${line}`);
    else entries.push(line);
  }
  return entries;
}
