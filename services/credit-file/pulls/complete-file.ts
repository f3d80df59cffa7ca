/** The credit file of a complete pull, with the fields that every file has. */
import { torontoDate } from '@creditlane/runtime/calendar-date';
import type { FileMatch } from '../bureaus/bureau.ts';
import type { CreditFile } from '../credit-file.ts';
import type { PullRow } from './pull.ts';

type HitType = NonNullable<CreditFile['hitType']>;

/** A file with the fields that readers rely on. */
export type CompleteFile = CreditFile &
  Required<Pick<CreditFile, 'id' | 'hitType' | 'requestedDate' | 'source'>>;

/**
 * Whether the bureau has found the person. A file whose hit type has an unknown code is a hit if it has contents;
 * without contents it may be a locked file as well as nobody's, so its hit type is undefined.
 */
export function hitTypeOf(file: CreditFile): HitType | undefined {
  return file.hitType ?? (hasContents(file) ? 'HIT' : undefined);
}

/** Less than the 5 MiB that an answer between services may have. A file with 200 trades has 0.15 MiB. */
const MAX_FILE_BYTES = 3 * 1_024 * 1_024;

/** Whether a file could be stored but never be read. */
export function isTooLarge(file: CreditFile): boolean {
  return Buffer.byteLength(JSON.stringify(file)) > MAX_FILE_BYTES;
}

/** What the file says about how far its person agrees with the applicant. */
export function matchFields(
  match: FileMatch | undefined,
): Pick<CreditFile, 'matched' | 'differences'> {
  if (match === undefined) return {};
  if (match.kind === 'FULL') return { matched: 'FULL' };
  return { matched: 'PARTIAL', differences: [...match.differences] };
}

/** The bureau's file with what it lacks: the id of the stored file for a bureau that gives none, and the date. */
export function completeFile(
  file: CreditFile & { hitType: HitType },
  { id, pull }: { id: string; pull: Pick<PullRow, 'source' | 'requestedAt'> },
): CompleteFile {
  return {
    ...file,
    source: pull.source,
    id: file.id || id,
    requestedDate: file.requestedDate ?? torontoDate(pull.requestedAt),
  };
}

function hasContents(file: CreditFile): boolean {
  return (
    file.fileSinceDate !== undefined ||
    Object.values(file).some((section) => Array.isArray(section) && section.length > 0)
  );
}
