/** Whether an error of the file system says that the file is not there. */
export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/** For `catch`: throws every error again but that of a missing file. */
export function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}
