/** The credit file of a complete pull, with the fields that every file has. */
import type { CreditFile } from '../credit-file.ts';
import type { PullRow } from './pull.ts';

/** A file with the fields that readers rely on. */
export type CompleteFile = CreditFile &
  Required<Pick<CreditFile, 'id' | 'hitType' | 'requestedDate' | 'source'>>;

/**
 * The bureau's file with what it lacks: the id of the stored file for a bureau that gives none, the date of the
 * request, and the hit type by whether the bureau knows the person, where its code is unknown.
 */
export function completeFile(
  file: CreditFile,
  { id, pull }: { id: string; pull: Pick<PullRow, 'source' | 'requestedAt'> },
): CompleteFile {
  return {
    ...file,
    source: pull.source,
    id: file.id || id,
    hitType: file.hitType ?? (hasContents(file) ? 'HIT' : 'NO_HIT'),
    requestedDate: file.requestedDate ?? pull.requestedAt.toISOString().slice(0, 10),
  };
}

function hasContents(file: CreditFile): boolean {
  return (
    file.fileSinceDate !== undefined ||
    Object.values(file).some((section) => Array.isArray(section) && section.length > 0)
  );
}
