// A model of the comment rules, compared with the service over random sequences of operations.
import { randomUUID } from 'node:crypto';
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import type { Fault } from '@creditlane/rpc/fault';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  commentAsCreditor,
  commentAsRetailer,
  inShort,
  readAs,
  submitNew,
  type TestSubmission,
  useSubmission,
} from './test-conversations.ts';

const fixture = useSubmission();

type Side = 'CREDITOR' | 'RETAILER';
type User = 'first' | 'second';

interface CommentRequest {
  type: 'comment';
  side: Side;
  /** The author on the retailer's side. */
  user: User;
  text: string;
  key: string | undefined;
  permitted: boolean;
}

type Operation =
  | CommentRequest
  | { type: 'submit'; here: boolean }
  | { type: 'archive' }
  | { type: 'setEligible'; user: User; eligible: boolean }
  | { type: 'read'; side: Side };

const side = fc.constantFrom<Side>('CREDITOR', 'RETAILER');
const user = fc.constantFrom<User>('first', 'second');
const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant('comment' as const),
        side,
        user,
        text: fc.constantFrom('yes', 'yes', 'yes', ' padded\n', '\n\t'),
        key: fc.constantFrom(undefined, 'one'),
        // One in four, so that most comments reach the other rules.
        permitted: fc.constantFrom(true, true, true, false),
      }),
    },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('read' as const), side }) },
    {
      weight: 2,
      arbitrary: fc.record({ type: fc.constant('submit' as const), here: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.constant({ type: 'archive' as const }) },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('setEligible' as const),
        user,
        eligible: fc.boolean(),
      }),
    },
  ),
  { minLength: 10, maxLength: 40 },
);

/** What the rules say about one submission. */
class Model {
  isSubmitted = false;
  isSubmittedHere = false;
  isArchived = false;
  readonly eligible = new Set<User>(['first']);
  /** Oldest first, in the form of `inShort`. */
  readonly comments: { side: Side; text: string; state: 'QUEUED' | 'DELIVERED' }[] = [];
  /** The accepted request of each operation and idempotency key. */
  readonly #answered = new Map<string, string>();

  /** `accepted`, `replayed`, or the code of the refusal. */
  comment({ side, user, text, key, permitted }: CommentRequest): string {
    const byRetailer = side === 'RETAILER';
    if (byRetailer && !permitted) return 'permission_missing';
    if (text.trim() === '') return 'invalid_comment';
    const keyOfSide = `${side} ${key}`;
    const request = `${byRetailer ? user : ''} ${text}`;
    const answered = key === undefined ? undefined : this.#answered.get(keyOfSide);
    if (answered !== undefined) {
      return answered === request ? 'replayed' : 'idempotency_key_reused';
    }
    const refusal = byRetailer ? this.#refusalOfRetailer(user) : this.#refusalOfCreditor();
    if (refusal !== undefined) return refusal;
    if (key !== undefined) this.#answered.set(keyOfSide, request);
    this.comments.push({ side, text, state: 'QUEUED' });
    return 'accepted';
  }

  /** The comments that a reader of this side gets, newest first; or the code of the refusal. */
  read(side: Side): string[] | string {
    if (!this.isSubmittedHere) return 'conversation_not_found';
    for (const comment of this.comments) {
      if (comment.side !== side) comment.state = 'DELIVERED';
    }
    return this.comments.map(({ side, text, state }) => `${side} ${text}: ${state}`).reverse();
  }

  #refusalOfCreditor(): string | undefined {
    if (!this.isSubmittedHere) return 'submission_not_found';
    return this.isArchived ? 'application_archived' : undefined;
  }

  #refusalOfRetailer(user: User): string | undefined {
    if (this.isArchived) return 'application_archived';
    if (!this.isSubmitted) return 'application_not_submitted';
    if (!this.isSubmittedHere) return 'conversation_not_found';
    return this.eligible.has(user) ? undefined : 'ineligible_user';
  }
}

/** The service with one application that was never submitted, and two users of which the first is eligible. */
class Real {
  readonly #submission: TestSubmission;
  readonly #subject = randomUUID();
  readonly #userIds: Record<User, string>;

  constructor() {
    this.#submission = submitNew(fixture.service);
    this.#userIds = { first: this.#submission.userId, second: randomUUID() };
    this.apply(new Model());
  }

  /** Makes the application and its users as the model has them. */
  apply({ isSubmitted, isSubmittedHere, isArchived, eligible }: Model): void {
    const { applicationId, retailerId, creditorId } = this.#submission;
    const { applications, users } = fixture.service.applications;
    const status = isSubmitted ? ApplicationStatus.SUBMITTED : ApplicationStatus.SAVED;
    applications.set(applicationId, {
      retailerId,
      status: isArchived ? ApplicationStatus.ARCHIVED : status,
      creditorIds: isSubmittedHere ? [creditorId] : [],
    });
    for (const [user, id] of Object.entries(this.#userIds)) {
      if (eligible.has(user as User)) users.set(`${retailerId} ${id}`, ['Noor', 'Singh']);
      else users.delete(`${retailerId} ${id}`);
    }
  }

  async comment({ side, user, text, key, permitted }: CommentRequest): Promise<string> {
    let outcome = 'accepted';
    const options = {
      subject: this.#subject,
      idempotencyKey: key,
      permissions: permitted ? ['ENQUEUE_RETAILER_CHAT'] : [],
      onReplayed: () => {
        outcome = 'replayed';
      },
    };
    const add = side === 'CREDITOR' ? commentAsCreditor : commentAsRetailer;
    const submission = { ...this.#submission, userId: this.#userIds[user] };
    await add(fixture.service, submission, text, options).catch((fault: Fault) => {
      outcome = fault.code;
    });
    return outcome;
  }

  async read(side: Side): Promise<string[] | string> {
    const reading = readAs(fixture.service, side, this.#submission, { limit: 100 });
    return reading.then(
      ({ comments }) => comments.map(inShort),
      (fault: Fault) => fault.code,
    );
  }
}

/** Applies the operation to both. Returns the outcome of a comment. */
async function run(operation: Operation, model: Model, real: Real): Promise<string | undefined> {
  switch (operation.type) {
    case 'comment': {
      const outcome = model.comment(operation);
      expect(await real.comment(operation)).toBe(outcome);
      return outcome;
    }
    case 'read':
      expect(await real.read(operation.side)).toEqual(model.read(operation.side));
      return undefined;
    case 'submit':
      if (model.isArchived) return undefined;
      model.isSubmitted = true;
      model.isSubmittedHere ||= operation.here;
      break;
    case 'archive':
      model.isArchived = true;
      break;
    case 'setEligible':
      if (operation.eligible) model.eligible.add(operation.user);
      else model.eligible.delete(operation.user);
  }
  real.apply(model);
  return undefined;
}

test('the service accepts, refuses, repeats and delivers comments as the model of the rules does', async () => {
  const outcomes = new Set<string | undefined>();
  await fc.assert(
    fc.asyncProperty(operations, async (sequence) => {
      const [model, real] = [new Model(), new Real()];
      for (const operation of sequence) outcomes.add(await run(operation, model, real));
    }),
    { numRuns: 200, seed: 20_260_302 },
  );
  // The sequences reached every rule.
  expect([...outcomes].filter((outcome) => outcome !== undefined).toSorted()).toEqual([
    'accepted',
    'application_archived',
    'application_not_submitted',
    'conversation_not_found',
    'idempotency_key_reused',
    'ineligible_user',
    'invalid_comment',
    'permission_missing',
    'replayed',
    'submission_not_found',
  ]);
}, 60_000);
