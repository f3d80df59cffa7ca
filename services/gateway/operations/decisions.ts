/** The operations on creditor decisions. */
import { type Decision, DecisionSchema } from '@creditlane/proto/decisions/v1/decision';
import {
  type DecisionsService,
  RecordedDecisionSchema,
} from '@creditlane/proto/decisions/v1/decisions_service';
import type { Client } from '@creditlane/rpc/client';
import { answered, type Handlers, movingFields } from '../handler.ts';
import { messageReader, messageWriter } from '../json-message.ts';
import type { JsonObject } from '../openapi-document.ts';
import { refusalOfFields } from '../validation-messages.ts';

/** Set by the platform's own callers only, so never taken from a body nor shown. */
const INTERNAL = { except: ['maxPayment'] };

const readDecision = messageReader(DecisionSchema, INTERNAL);
const writeDecision = messageWriter(DecisionSchema, INTERNAL);
const writeRecord = messageWriter(RecordedDecisionSchema, { except: ['decision'] });

/** What the decision (read) object shows of a decision. */
const READ_FIELDS = [
  'decision',
  'firstPaymentDate',
  'paymentFrequency',
  'interestRate',
  'paymentAmount',
  'conditions',
];

export function decisionOperations(decisions: Client<typeof DecisionsService>): Handlers {
  return {
    async getDecision({ path, context }) {
      const ids = idsOf(path);
      const { decision } = await decisions.getDecision(ids, context);
      return decisionObject(ids, decision);
    },

    async recordDecision({ path, body, context }) {
      const ids = idsOf(path);
      if (String(body.applicationId).toLowerCase() !== ids.applicationId) {
        const message = 'must be the application in the path';
        throw refusalOfFields([{ pointer: '/applicationId', message }], 'application_id_mismatch');
      }
      const request = { ...ids, decision: readDecision(body) };
      const recording = decisions.recordDecision(request, context);
      const { decision } = await movingFields([['/decision', '']], recording);
      return decisionObject(ids, decision);
    },

    async listDecisions({ path, query, context }) {
      const { limit, cursor = '' } = query;
      const page = { limit: Number(limit), cursor: String(cursor) };
      const listing = decisions.listDecisions({ ...idsOf(path), ...page }, context);
      const { decisions: records, nextCursor } = await movingFields(
        [['/cursor', '/cursor', 'query']],
        listing,
      );
      const data = records.map((record) => ({
        integrationId: null,
        ...writeRecord(record),
        ...(record.decision && writeDecision(record.decision)),
      }));
      return { data, nextCursor: nextCursor || null };
    },
  };
}

function idsOf({ applicationId = '', creditorId = '' }: Record<string, string>) {
  return { applicationId, creditorId };
}

function decisionObject(
  ids: { applicationId: string; creditorId: string },
  decision: Decision | undefined,
): JsonObject {
  const written = writeDecision(answered(decision));
  const shown = READ_FIELDS.flatMap((name) => {
    const value = written[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...ids, ...Object.fromEntries(shown) };
}
