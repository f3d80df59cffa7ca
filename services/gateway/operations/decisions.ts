/** The operations on creditor decisions and on the income status. */
import { type Decision, DecisionSchema } from '@creditlane/proto/decisions/v1/decision';
import {
  type DecisionsService,
  GetIncomeStatusResponseSchema,
  RecordedDecisionSchema,
  SetIncomeStatusRequestSchema,
  SetIncomeStatusResponseSchema,
} from '@creditlane/proto/decisions/v1/decisions_service';
import type { Client } from '@creditlane/rpc/client';
import { invalidFields } from '@creditlane/rpc/fault';
import { defineHandlers } from './handlers.ts';
import { messageReader, messageWriter } from './service-messages/json-message.ts';
import {
  answerPage,
  renameRefusedFields,
  requireRecord,
} from './service-messages/service-answers.ts';

/** Fields that only the platform's own callers set: not read from a body, and not shown. */
const INTERNAL = { except: ['maxPayment'] } as const;

const readDecision = messageReader(DecisionSchema, INTERNAL);
const writeDecision = messageWriter(DecisionSchema, INTERNAL);
const readIncomeStatus = messageReader(SetIncomeStatusRequestSchema, {
  except: ['applicationId', 'creditorId'],
});
const writeSetIncomeStatus = messageWriter(SetIncomeStatusResponseSchema);
const writeIncomeStatus = messageWriter(GetIncomeStatusResponseSchema);
const writeRecord = messageWriter(RecordedDecisionSchema, { except: ['decision'] });

export function decisionOperations(decisions: Client<typeof DecisionsService>) {
  return defineHandlers({
    async getDecision({ path, context }) {
      const { decision } = await decisions.getDecision(path, context);
      return latestDecision(path, decision);
    },

    async recordDecision({ path, body, context }) {
      if (body.applicationId !== path.applicationId) {
        const message = 'must be the application in the path';
        throw invalidFields('application_id_mismatch', [{ pointer: '/applicationId', message }]);
      }
      const { decision } = await renameRefusedFields(
        decisions.recordDecision({ ...path, decision: readDecision(body) }, context),
        [{ from: '/decision', to: '' }],
      );
      return latestDecision(path, decision);
    },

    async setIncomeStatus({ path, body, context }) {
      const request = { ...path, ...readIncomeStatus(body) };
      return {
        ...path,
        ...writeSetIncomeStatus(await decisions.setIncomeStatus(request, context)),
      };
    },

    async getIncomeStatus({ path, context }) {
      return { ...path, ...writeIncomeStatus(await decisions.getIncomeStatus(path, context)) };
    },

    async listDecisions({ path, query, context }) {
      const call = decisions.listDecisions({ ...path, ...query }, context);
      return await answerPage(call, (page) =>
        page.decisions.map((record) => ({
          ...writeRecord(record),
          ...writeDecision(requireRecord(record.decision)),
          integrationId: record.integrationId || null,
        })),
      );
    },
  });
}

/** The fields of a decision in the answers of getDecision and recordDecision, as the specification has them. */
function latestDecision(
  ids: { applicationId: string; creditorId: string },
  record: Decision | undefined,
) {
  const { decision, firstPaymentDate, paymentFrequency, interestRate, paymentAmount, conditions } =
    writeDecision(requireRecord(record));
  return {
    ...ids,
    decision,
    firstPaymentDate,
    paymentFrequency,
    interestRate,
    paymentAmount,
    conditions,
  };
}
