/**
 * The ceiling of forced pulls: how many inquiries in spite of a recent file may be made about one person at one bureau in
 * 24 hours, whichever retailers and applications they are for. Each of them harms the person.
 */
import { createHmac } from 'node:crypto';
import type { Queryable } from '@creditlane/postgres/statement';
import type { Applicant } from '@creditlane/proto/applications/v1/application';
import { conflict, forbidden } from '@creditlane/rpc/fault';
import type { Identity } from '@creditlane/rpc/identity';
import type { Clock } from '@creditlane/runtime/clock';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import type { Keys } from '@creditlane/runtime/setting';
import { sinOf, splitName } from '../bureaus/answer/match-subject.ts';
import { countForcedPulls, insertForcedPull, lockPerson } from '../store/forced-pulls.ts';
import type { PullRow } from './pull.ts';

const PERMISSION = 'FORCE_PULL';
const DAY_MS = 24 * 60 * 60 * 1_000;

export interface ForcedPullDeps {
  /** How many there may be in 24 hours. */
  maxForcedPulls: number;
  /** The first keys the digests of persons; the others find those of before a rotation. */
  documentLinkKeys: Renewed<Keys>;
  clock: Clock;
}

/** Throws the fault `permission_missing` unless the caller may force pulls. */
export function requireForcePermission({ permissions }: Identity): void {
  if (permissions.includes(PERMISSION)) return;
  throw forbidden('permission_missing', `Prefer: force-pull needs the permission ${PERMISSION}`);
}

/**
 * Inserts a forced pull by `insert`, unless the person has had as many as are permitted.
 * @throws Fault `force_pull_limit`
 */
export async function insertForced(
  tx: Queryable,
  { maxForcedPulls, documentLinkKeys, clock }: ForcedPullDeps,
  pull: Pick<PullRow, 'applicantId' | 'source'>,
  applicant: Applicant,
  insert: () => Promise<PullRow>,
): Promise<PullRow> {
  const [current, ...earlier] = documentLinkKeys();
  const digests = digestsOf(current, applicant);
  const known = [...digests, ...earlier.flatMap((key) => digestsOf(key, applicant))];
  await lockPerson(tx, digests);
  const since = new Date(clock().getTime() - DAY_MS);
  if ((await countForcedPulls(tx, pull, known, since)) >= maxForcedPulls) {
    const times = maxForcedPulls === 1 ? 'once' : `${maxForcedPulls} times`;
    throw conflict(
      'force_pull_limit',
      `A file of one person may be pulled by force ${times} in 24 hours from ${pull.source}.`,
    );
  }
  const inserted = await insert();
  await insertForcedPull(tx, inserted, digests);
  return inserted;
}

/**
 * What applicants have in common who are one person: HMACs of the social insurance number, and of the names and the date of
 * birth, from which neither can be guessed without the key. Accents, case, hyphens and the order of the names do not count.
 */
function digestsOf(
  key: Uint8Array,
  { sin: sinText, firstName, lastName, dateOfBirth }: Applicant,
): Buffer[] {
  const sin = sinOf(sinText);
  const names = [...splitName(firstName), ...splitName(lastName)].toSorted();
  // The signed text of a link begins with another word.
  const known = [
    ...(sin === undefined ? [] : [`person sin ${sin}`]),
    ...(names.length === 0 || dateOfBirth === ''
      ? []
      : [`person name ${names.join('')} ${dateOfBirth}`]),
  ];
  return known.map((text) => createHmac('sha256', key).update(text).digest());
}
