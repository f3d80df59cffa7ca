/** The operations on credit files: request, read, the list of pulls, erasure, and the PDF of a file. */
import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  type CheckDocumentLinkResponse,
  type CreditFileService,
  FailureReason,
  type Pull,
  PullEvidenceSchema,
  PullSchema,
  PullState,
  type ReadCreditFileResponse,
  Source,
} from '@creditlane/proto/creditfile/v1/credit_file_service';
import type { CallContext, Client } from '@creditlane/rpc/client';
import { type Fault, forbidden, invalid, notFound, toFault } from '@creditlane/rpc/fault';
import { torontoDate } from '@creditlane/runtime/calendar-date';
import type { Access } from '../../access/access.ts';
import { preferredWaitS, readPreferences } from '../../http/prefer.ts';
import type { WaitingReads } from '../../limits/waiting-reads.ts';
import { confirmAccess, RECHECK_ACCESS_AFTER_MS } from '../../middleware/caller.ts';
import { publicPathOf } from '../../public-url.ts';
import type { OperationContext } from '../../request-state.ts';
import { type AnswerOf, defineHandlers } from '../handlers.ts';
import { messageWriter } from '../service-messages/json-message.ts';
import { answerPage, requireRecord } from '../service-messages/service-answers.ts';

type CreditFile = AnswerOf<'readCreditFile'>;

const MAX_WAIT_S = 30;
/** How much earlier than asked for a wait may end. */
const TIMER_SLACK_MS = 100;
const STATUS = 'X-Credit-File-Status';
const APPLIED = 'Preference-Applied';
const FORCE_PULL = 'force-pull';

const writePull = messageWriter(PullSchema);
const writeEvidence = messageWriter(PullEvidenceSchema, { except: ['pull'] });

interface CreditFileOptions {
  /** Where clients reach this server, without `/v1`. */
  publicUrl: string;
  /** How long a read may take beside its wait. */
  deadlineMs: number;
  waitingReads: WaitingReads;
  access: Access;
}

export function creditFileOperations(
  creditFiles: Client<typeof CreditFileService>,
  { publicUrl, deadlineMs, waitingReads, access }: CreditFileOptions,
) {
  const publicPath = publicPathOf(publicUrl);
  return defineHandlers({
    async requestCreditFile({ path, header, body: { source, requestId = '' }, context }, ctx) {
      const force = readPreferences(header.prefer).has(FORCE_PULL);
      const request = { ...path, source: Source[source], requestId, force };
      const call = creditFiles.requestCreditFile(request, context);
      const { pull, isNew } = await refusedAsInvalid(call);
      const place = `/v1/applications/${path.applicationId}/credit-file/${path.applicantId}`;
      ctx.set('Location', publicPath + place.toLowerCase());
      ctx.set('Retry-After', '1');
      if (force && isNew) ctx.set(APPLIED, FORCE_PULL);
      return writePull(requireRecord(pull));
    },

    async readCreditFile({ path, header, context }, ctx) {
      const waitS = preferredWaitS(readPreferences(header.prefer), MAX_WAIT_S);
      const readAs = (call: CallContext, waitMs: number) => {
        const unmasked = call.identity.permissions.includes('READ_SIN');
        return creditFiles.readCreditFile(
          { ...path, unmasked, waitMs, readsAfterWait: true },
          call,
        );
      };
      const startedMs = performance.now();
      const elapsedMs = () => performance.now() - startedMs;
      let isApplied = false;
      let read = await waitingReads.run(
        { caller: ctx.state.caller.id, waitMs: waitS * 1_000, signal: context.signal },
        async (waitMs, signal) => {
          const endMs = deadlineOf(context, deadlineMs + waitMs);
          const answer = await readAs({ ...context, signal, deadlineMs: endMs }, waitMs);
          // A service that stops, or has too many waits, answers before the pull has ended.
          const hasEnded = statusOf(requireRecord(answer.pull)) !== 'PENDING';
          isApplied = waitMs > 0 && (hasEnded || elapsedMs() > waitMs - TIMER_SLACK_MS);
          return answer;
        },
      );
      // The caller may have lost its access during the wait. A service of an earlier version, and a replica that stopped
      // during the wait, do not say that they have waited.
      if (read.hasWaited || (waitS > 0 && elapsedMs() > RECHECK_ACCESS_AFTER_MS)) {
        read = await readAs({ ...context, identity: await confirmAccess(access, ctx) }, 0);
      }
      if (isApplied) ctx.set(APPLIED, `wait=${waitS}`);
      return creditFileJson(read, ctx, `${publicUrl}/v1`);
    },

    async listPulls({ path, query, context }) {
      const call = creditFiles.listPulls({ ...path, ...query }, context);
      return await answerPage(call, ({ pulls }) =>
        pulls.map((evidence) => ({
          ...writePull(requireRecord(evidence.pull)),
          ...writeEvidence(evidence),
        })),
      );
    },

    async eraseApplicant({ path, context }) {
      await creditFiles.eraseApplicant(path, context);
    },

    async readCreditFileDocument({ path, query: { expires, signature }, context }, ctx) {
      requireLink(expires, signature);
      const request = { ...path, expiresAt: BigInt(expires), signature };
      const startedMs = performance.now();
      const link = await creditFiles.checkDocumentLink(request, context);
      await requireReader(access, link, ctx);
      const { pdf } = await creditFiles.readDocument(request, context);
      const isLate = performance.now() - startedMs > RECHECK_ACCESS_AFTER_MS;
      if (isLate) await requireReader(access, link, ctx);
      ctx.set('Cache-Control', 'private, no-store');
      ctx.set('Content-Disposition', 'inline; filename="credit-file.pdf"');
      return Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength);
    },
  });
}

/** Throws a `forbidden` Fault for values that no link has, and that the service's contract does not permit. */
function requireLink(expires: string, signature: string): void {
  const isPossible = /^\d{1,12}$/.test(expires) && /^.{1,200}$/.test(signature);
  if (!isPossible) throw forbidden('link_invalid', 'The link to the document is not valid.');
}

/**
 * Throws a `forbidden` Fault unless one of those who were given the link may still read the file. A link of a service of the
 * version before names nobody.
 */
async function requireReader(
  access: Access,
  { applicationId, readers }: CheckDocumentLinkResponse,
  { state }: OperationContext,
): Promise<void> {
  if (readers.length === 0) return;
  for (const { integrationId, retailerContext } of readers) {
    const target = { applicationId, retailerContext: retailerContext || undefined };
    if (await access.reachesApplication(integrationId, target, state.callOptions)) return;
  }
  const message = 'The link to the document has ended: whoever was given it may not read the file.';
  throw forbidden('link_ended', message);
}

/** The end of a call of at most `timeoutMs`, within the request's own deadline. */
function deadlineOf({ deadlineMs = Infinity }: CallContext, timeoutMs: number): number {
  return Math.min(deadlineMs, Date.now() + timeoutMs);
}

/** The interface answers 400 to a request that the present state does not permit; 409 is of idempotency alone. */
async function refusedAsInvalid<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const fault = toFault(error);
    const isOfIdempotency = fault.code.startsWith('idempotency_');
    if (fault.kind !== 'conflict' || isOfIdempotency) throw fault;
    throw invalid(fault.code, fault.message);
  }
}

/**
 * Sets the headers that say how the latest pull stands. Throws a `not_found` Fault when it has ended without a
 * file, and there is no earlier one.
 */
function creditFileJson(
  { pull: latest, fileJson, documentPath }: ReadCreditFileResponse,
  ctx: OperationContext,
  base: string,
): CreditFile {
  const pull = requireRecord(latest);
  const status = statusOf(pull);
  ctx.set(STATUS, status);
  if (status === 'PENDING') {
    ctx.set('Retry-After', '1');
    return { source: nameOf(pull.source), requestedDate: dateOf(pull) };
  }
  if (fileJson === '') throw withoutFile(pull);
  return { ...(JSON.parse(fileJson) as CreditFile), signedPdfUrl: base + documentPath };
}

function statusOf({ state }: Pull): 'PENDING' | 'COMPLETE' | 'FAILED' | 'UNKNOWN' {
  switch (state) {
    case PullState.COMPLETE:
      return 'COMPLETE';
    case PullState.FAILED:
      return 'FAILED';
    case PullState.UNKNOWN:
      return 'UNKNOWN';
    default:
      return 'PENDING';
  }
}

const REASONS: Record<FailureReason, string> = {
  [FailureReason.UNSPECIFIED]: 'the pull failed',
  [FailureReason.CREDENTIALS]: "it refused the retailer's credentials",
  [FailureReason.REJECTED]: 'it refused the contents of the inquiry',
  [FailureReason.UNAVAILABLE]:
    'it could not be reached, or it refused to take the inquiry at that time',
  [FailureReason.MALFORMED_ANSWER]: 'its answer was not in its format',
  [FailureReason.CONSENT]: "the applicant's consent had ended before the inquiry was sent",
  [FailureReason.ANSWER_FOR_ANOTHER_SUBJECT]:
    'its answer was about another person, and nothing of it was kept',
};

/** Names the bureau and the class of the reason. */
function withoutFile({ source, state, failure, bureauCode }: Pull): Fault {
  const intro = `${nameOf(source)} gave no credit file`;
  if (state === PullState.COMPLETE) {
    return notFound('credit_file_not_found', `${intro} that is still kept.`);
  }
  if (state === PullState.UNKNOWN) {
    const reason =
      'it may have made the inquiry, but its answer was lost, or its server answered with an error';
    const message = `${intro}, UNKNOWN: ${reason}; a new request would be a second inquiry.`;
    return notFound('credit_file_outcome_unknown', message);
  }
  const reason = `${FailureReason[failure]}: ${REASONS[failure]}`;
  const code = bureauCode === '' ? '' : ` (its code: ${bureauCode})`;
  return notFound('credit_file_failed', `${intro}, ${reason}${code}.`);
}

function nameOf(source: Source): 'EQUIFAX' | 'TRANSUNION' {
  return source === Source.TRANSUNION ? 'TRANSUNION' : 'EQUIFAX';
}

/** The day of the request, as the bureau dates it in the file that it gives. */
function dateOf({ requestedAt }: Pull): string {
  return torontoDate(timestampDate(requireRecord(requestedAt)));
}
