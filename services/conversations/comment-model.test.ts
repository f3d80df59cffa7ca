// A model of the comment rules, compared with the service: requests one by one and at once, with and without
// idempotency keys, and restarts of the service between them.
import { randomUUID } from 'node:crypto';
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import type { Fault } from '@creditlane/rpc/fault';
import {
  type Model,
  oneOrMore,
  runAgainstModel,
  type System,
} from '@creditlane/runtime/test-model-run';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  commentAsCreditor,
  commentAsRetailer,
  inShort,
  KEYS,
  readAs,
  submitNew,
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

type Request =
  | CommentRequest
  | { type: 'read'; side: Side }
  | { type: 'submit'; here: boolean }
  | { type: 'archive' }
  | { type: 'setEligible'; user: User; eligible: boolean };

/** One submission, of an application that was never submitted at first, and two users of its retailer. */
interface State {
  isSubmitted: boolean;
  isSubmittedHere: boolean;
  isArchived: boolean;
  eligible: Readonly<Record<User, boolean>>;
  /** Oldest first. */
  comments: readonly { side: Side; text: string; state: 'QUEUED' | 'DELIVERED' }[];
  /** The accepted request of each side and idempotency key. */
  answered: Readonly<Record<string, string>>;
}

const model: Model<State, Request> = {
  start: {
    isSubmitted: false,
    isSubmittedHere: false,
    isArchived: false,
    eligible: { first: true, second: false },
    comments: [],
    answered: {},
  },

  apply(state, request) {
    switch (request.type) {
      case 'comment':
        return applyComment(state, request);
      case 'read': {
        if (!state.isSubmittedHere) return { outcome: 'conversation_not_found', state };
        const comments = state.comments.map((comment) =>
          comment.side === request.side ? comment : { ...comment, state: 'DELIVERED' as const },
        );
        return { outcome: newestFirst(comments).join(), state: { ...state, comments } };
      }
      case 'submit': {
        if (state.isArchived) return { outcome: 'changed', state };
        const isSubmittedHere = state.isSubmittedHere || request.here;
        return { outcome: 'changed', state: { ...state, isSubmitted: true, isSubmittedHere } };
      }
      case 'archive':
        return { outcome: 'changed', state: { ...state, isArchived: true } };
      case 'setEligible': {
        const eligible = { ...state.eligible, [request.user]: request.eligible };
        return { outcome: 'changed', state: { ...state, eligible } };
      }
    }
  },

  shown({ isSubmittedHere, comments }) {
    return isSubmittedHere ? newestFirst(comments) : 'conversation_not_found';
  },
};

function newestFirst(comments: State['comments']): string[] {
  return comments.map(({ side, text, state }) => `${side} ${text}: ${state}`).reverse();
}

/** `accepted`, `repeated`, or the code of the refusal. */
function applyComment(state: State, request: CommentRequest): { outcome: string; state: State } {
  const { side, user, text, key, permitted } = request;
  const refused = (outcome: string) => ({ outcome, state });
  const isRetailer = side === 'RETAILER';
  if (isRetailer && !permitted) return refused('permission_missing');
  if (text.trim() === '') return refused('invalid_comment');
  const keyed = `${side} ${key}`;
  const content = `${isRetailer ? user : ''} ${text}`;
  const first = key === undefined ? undefined : state.answered[keyed];
  if (first !== undefined)
    return refused(first === content ? 'repeated' : 'idempotency_key_reused');
  const refusal = isRetailer ? refusalOfRetailer(state, user) : refusalOfCreditor(state);
  if (refusal !== undefined) return refused(refusal);
  const answered = key === undefined ? state.answered : { ...state.answered, [keyed]: content };
  const comments = [...state.comments, { side, text, state: 'QUEUED' as const }];
  return { outcome: 'accepted', state: { ...state, answered, comments } };
}

function refusalOfCreditor({ isSubmittedHere, isArchived }: State): string | undefined {
  if (!isSubmittedHere) return 'submission_not_found';
  return isArchived ? 'application_archived' : undefined;
}

function refusalOfRetailer(state: State, user: User): string | undefined {
  if (state.isArchived) return 'application_archived';
  if (!state.isSubmitted) return 'application_not_submitted';
  if (!state.isSubmittedHere) return 'conversation_not_found';
  return state.eligible[user] ? undefined : 'ineligible_user';
}

/** The service beside a fake applications service that has one application and its users. */
class ServiceWithApplication implements System<Request> {
  readonly #submission = submitNew(fixture.service);
  readonly #subject = randomUUID();
  readonly #userIds = { first: this.#submission.userId, second: randomUUID() };
  readonly #application = {
    retailerId: this.#submission.retailerId,
    status: ApplicationStatus.SAVED,
    creditorIds: [] as string[],
  };
  /** The ids that each key of the creditor got for an answer. */
  readonly #answers = new Map<string, Set<string>>();

  constructor() {
    const { applications } = fixture.service.applications;
    applications.set(this.#submission.applicationId, this.#application);
  }

  async send(request: Request): Promise<string> {
    switch (request.type) {
      case 'comment':
        return this.#comment(request);
      case 'read':
        return this.#read(request.side).then(String);
      default:
        this.#change(request);
        return 'changed';
    }
  }

  #change(request: Exclude<Request, { type: 'comment' | 'read' }>): void {
    const { retailerId, creditorId } = this.#submission;
    const { ARCHIVED, SUBMITTED } = ApplicationStatus;
    if (request.type === 'archive') this.#application.status = ARCHIVED;
    if (request.type === 'submit' && this.#application.status !== ARCHIVED) {
      this.#application.status = SUBMITTED;
      if (request.here) this.#application.creditorIds = [creditorId];
    }
    if (request.type !== 'setEligible') return;
    const user = `${retailerId} ${this.#userIds[request.user]}`;
    const { users } = fixture.service.applications;
    if (request.eligible) users.set(user, ['Noor', 'Singh']);
    else users.delete(user);
  }

  async #comment({ side, user, text, key, permitted }: CommentRequest): Promise<string> {
    let outcome = 'accepted';
    const options = {
      subject: this.#subject,
      idempotencyKey: key,
      permissions: permitted ? ['ENQUEUE_RETAILER_CHAT'] : [],
      onReplayed: () => {
        outcome = 'repeated';
      },
    };
    const submission = { ...this.#submission, userId: this.#userIds[user] };
    try {
      if (side === 'RETAILER') {
        await commentAsRetailer(fixture.service, submission, text, options);
      } else {
        const { id } = await commentAsCreditor(fixture.service, submission, text, options);
        if (key) this.#answers.set(key, (this.#answers.get(key) ?? new Set()).add(id));
      }
      return outcome;
    } catch (fault) {
      return (fault as Fault).code;
    }
  }

  async #read(side: Side, discarded = false): Promise<string[] | string> {
    const reading = readAs(fixture.service, side, this.#submission, { limit: 100, discarded });
    return reading.then(
      ({ comments }) => comments.map(inShort),
      (fault: Fault) => fault.code,
    );
  }

  async read(): Promise<string[] | string> {
    for (const ids of this.#answers.values()) expect(ids.size).toBe(1);
    return this.#read('CREDITOR', true);
  }

  restart(): Promise<void> {
    return fixture.service.restart(KEYS);
  }
}

const sides = fc.constantFrom<Side>('CREDITOR', 'RETAILER');
const users = fc.constantFrom<User>('first', 'first', 'second');
const comments: fc.Arbitrary<Request> = fc.record({
  type: fc.constant('comment'),
  side: sides,
  user: users,
  text: fc.constantFrom('yes', 'yes', 'yes', ' padded\n', '\n\t'),
  key: fc.constantFrom(undefined, 'one'),
  // One in four, so that most comments reach the other rules.
  permitted: fc.constantFrom(true, true, true, false),
});
const reads: fc.Arbitrary<Request> = fc.record({ type: fc.constant('read'), side: sides });
const changes: fc.Arbitrary<Request> = fc.oneof(
  fc.record({ type: fc.constant('submit'), here: fc.boolean() }),
  fc.record({ type: fc.constant('submit'), here: fc.constant(true) }),
  fc.record({ type: fc.constant('archive') }),
  fc.record({ type: fc.constant('setEligible'), user: users, eligible: fc.boolean() }),
);
/**
 * Comments at once, with readings of one side: of two sides that read at once, neither answer needs to show
 * what the other has delivered. Changes are sent one by one.
 */
const requests = fc
  .tuple(
    oneOrMore(
      fc.oneof(
        { weight: 5, arbitrary: comments },
        { weight: 2, arbitrary: reads },
        { weight: 4, arbitrary: changes },
      ),
      fc.oneof({ weight: 2, arbitrary: comments }, { weight: 1, arbitrary: reads }),
    ),
    sides,
  )
  .map(([atOnce, side]) => atOnce.map((it) => (it.type === 'read' ? { ...it, side } : it)));

test('comments are accepted, refused, repeated and delivered as their model does, whatever the requests, their number at once and restarts', async () => {
  const outcomes = await runAgainstModel(model, async () => new ServiceWithApplication(), {
    requests,
    runs: 25,
    seed: 20_260_302,
    maxCommands: 40,
  });
  // The sequences reached every rule.
  const reached = [...outcomes].filter(
    (outcome) => /^[a-z_]+$/.test(outcome) && outcome !== 'changed',
  );
  expect(reached.toSorted()).toEqual([
    'accepted',
    'application_archived',
    'application_not_submitted',
    'conversation_not_found',
    'idempotency_key_reused',
    'ineligible_user',
    'invalid_comment',
    'permission_missing',
    'repeated',
    'submission_not_found',
  ]);
}, 60_000);
