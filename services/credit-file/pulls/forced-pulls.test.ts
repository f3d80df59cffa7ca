import { randomInt, randomUUID } from 'node:crypto';
import { runPurge } from '@creditlane/postgres/retention';
import { Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { describe, expect, test } from 'vitest';
import { insertErasure } from '../store/applicant-erasures.ts';
import { purgeForcedPulls } from '../store/forced-pulls.ts';
import {
  addApplicant,
  asPlatform,
  type RequestOptions,
  readEnded,
  request,
  type TestApplicant,
  useApplicant,
} from '../test-credit-file.ts';

const fixture = useApplicant({ MAX_FORCED_PULLS: '2' });
const HOUR_MS = 3_600_000;
const REFUSED = { kind: 'conflict', code: 'force_pull_limit' };

interface Person {
  firstName?: string;
  lastName?: string;
  sin?: string;
  dateOfBirth?: string;
}

/** Somebody whom no other test is about. */
function newPerson(): Required<Person> {
  const name = randomUUID().replaceAll(/[^a-z]/g, '');
  const sin = String(randomInt(100_000_000, 999_999_999));
  return { firstName: 'Élise', lastName: `O’Neil-${name}`, sin, dateOfBirth: '1990-02-03' };
}

/** A new applicant with the data of the person, of a retailer of its own unless one is given. */
async function apply(person: Person, retailerId?: string): Promise<TestApplicant> {
  const applicant = await addApplicant(fixture.service, retailerId);
  const key = `${applicant.applicationId} ${applicant.applicantId}`;
  const { subjects } = fixture.service.applications;
  const subject = subjects.get(key);
  subjects.set(key, { ...subject, applicant: { ...subject?.applicant, ...person } } as never);
  return applicant;
}

const force = (applicant: TestApplicant, options: RequestOptions = {}) =>
  request(fixture.service, applicant, { force: true, ...options });

/** Has a file pulled by force, and waits for it. */
async function pull(applicant: TestApplicant, options?: RequestOptions): Promise<void> {
  await force(applicant, options);
  await readEnded(fixture.service, applicant);
}

const inquiries = () => fixture.service.bureau.inquiries;
const sql = (text: string, values: unknown[]) => fixture.service.sql.query(text, values);

test('a caller without the permission is refused, whoever the applicant is', async () => {
  const missing = { ...fixture.applicant, applicantId: randomUUID() };
  const withoutRetailer = { ...missing, retailerId: undefined as never };
  for (const applicant of [fixture.applicant, missing, withoutRetailer]) {
    const refused = force(applicant, { permissions: ['READ_SIN'] });
    await expect(refused).rejects.toMatchObject({ kind: 'forbidden', code: 'permission_missing' });
  }
  expect(inquiries()).toEqual([]);
});

describe('above the ceiling', () => {
  test('a forced pull is refused and recorded, until a day after the first', async () => {
    const { service } = fixture;
    const applicant = await apply(newPerson());
    await pull(applicant);
    service.now.offsetMs = 12 * HOUR_MS;
    await pull(applicant);
    await expect(force(applicant)).rejects.toMatchObject(REFUSED);
    expect(inquiries()).toHaveLength(2);
    const { rows } = await sql(
      `SELECT source, outcome FROM audit_records WHERE applicant_id = $1 AND action = 'PULL_REFUSED'`,
      [applicant.applicantId],
    );
    expect(rows).toEqual([{ source: 'EQUIFAX', outcome: 'force_pull_limit' }]);
    service.now.offsetMs = 25 * HOUR_MS;
    await pull(applicant);
  });

  test('the other bureau, an earlier pull and a request without force are not refused', async () => {
    const { service } = fixture;
    const applicant = await apply(newPerson());
    await pull(applicant);
    await pull(applicant, { requestId: 'second' });
    const again = await force(applicant, { requestId: 'second' });
    expect((await request(service, applicant)).id).toBe(again.id);
    await pull(applicant, { source: Source.TRANSUNION });
    expect(inquiries()).toHaveLength(3);
  });

  test('applicants count together who have the same social insurance number', async () => {
    const { sin } = newPerson();
    await pull(await apply({ ...newPerson(), sin }));
    await pull(await apply({ ...newPerson(), sin: sin.replace(/(...)(...)/, '$1 $2-') }));
    const third = await apply({ ...newPerson(), sin, dateOfBirth: '1950-01-01' });
    await expect(force(third)).rejects.toMatchObject(REFUSED);
  });

  test('applicants count together who have the same names and date of birth, and others do not', async () => {
    const { firstName, lastName, ...others } = newPerson();
    await pull(await apply({ ...others, firstName, lastName, sin: '' }));
    const spelled = { firstName: lastName.toUpperCase().replace('’', ''), lastName: 'elise' };
    await pull(await apply({ ...others, ...spelled }));
    const third = { firstName, lastName, dateOfBirth: others.dateOfBirth };
    await expect(force(await apply({ ...third, sin: newPerson().sin }))).rejects.toMatchObject(
      REFUSED,
    );
    await pull(await apply({ ...third, sin: newPerson().sin, dateOfBirth: '1990-02-04' }));
  });

  test('twenty-five requests at once about one person under five applicants make two inquiries', async () => {
    const person = newPerson();
    const applicants = await Promise.all(Array.from({ length: 5 }, () => apply(person)));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 25 }, (_, n) => force(applicants[n % 5] as TestApplicant)),
    );
    const made = outcomes.flatMap((it) => (it.status === 'fulfilled' ? [it.value.id] : []));
    expect(new Set(made).size).toBe(2);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(REFUSED);
    }
  });
});

test('a pull whose inquiry was never sent does not count', async () => {
  const { service } = fixture;
  const applicant = await apply(newPerson());
  service.bureau.refusals = ['address_denied'];
  await pull(applicant);
  await pull(applicant);
  await pull(applicant);
  await expect(force(applicant)).rejects.toMatchObject(REFUSED);
  expect(inquiries()).toHaveLength(2);
});

describe('whom a forced pull was about', () => {
  const countOf = async ({ applicantId }: TestApplicant) =>
    (await sql('SELECT FROM forced_pulls WHERE applicant_id = $1', [applicantId])).rowCount;

  test('is forgotten with an erasure', async () => {
    const { service } = fixture;
    const applicant = await apply(newPerson());
    await pull(applicant);
    expect(await countOf(applicant)).toBe(2);
    await service.client.eraseApplicant(applicant, asPlatform());
    expect(await countOf(applicant)).toBe(0);
  });

  test('is purged after a day, and after an erasure by a version that leaves it', async () => {
    const [old, erased, recent] = [
      await apply(newPerson()),
      await apply(newPerson()),
      await apply(newPerson()),
    ];
    for (const applicant of [old, erased, recent]) await pull(applicant);
    const age = `UPDATE forced_pulls SET requested_at = now() - interval '25 hours' WHERE applicant_id = $1`;
    await sql(age, [old.applicantId]);
    const eraser = { actor: { kind: 'operator', id: 'x' } } as const;
    await insertErasure(fixture.service.sql, { ...erased, ...eraser }, new Date());
    await runPurge(fixture.service.sql, purgeForcedPulls);
    expect([await countOf(old), await countOf(erased), await countOf(recent)]).toEqual([0, 0, 2]);
  });
});
