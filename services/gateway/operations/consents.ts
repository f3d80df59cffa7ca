/** The operations on the applicants' consents. */
import {
  type ConsentsService,
  RecordConsentRequestSchema,
  type StoredConsent,
  StoredConsentSchema,
} from '@creditlane/proto/applications/v1/consents_service';
import type { Client } from '@creditlane/rpc/client';
import { defineHandlers } from './handlers.ts';
import { readTimes } from './service-messages/date-time.ts';
import { messageReader, messageWriter } from './service-messages/json-message.ts';
import { answerPage, requireRecord } from './service-messages/service-answers.ts';

const TIMES = ['capturedAt', 'expiresAt'] as const;

const readConsent = messageReader(RecordConsentRequestSchema, {
  except: ['applicationId', 'applicantId', ...TIMES],
});
const writeConsent = messageWriter(StoredConsentSchema, { except: ['id'] });

export function consentOperations(consents: Client<typeof ConsentsService>) {
  return defineHandlers({
    async recordConsent({ path, body, context }) {
      const request = { ...path, ...readConsent(body), ...readTimes(body, TIMES) };
      const { consent } = await consents.recordConsent(request, context);
      return consentJson(requireRecord(consent));
    },

    async listConsents({ path, query, context }) {
      const call = consents.listConsents({ ...path, ...query }, context);
      return await answerPage(call, (page) => page.consents.map(consentJson));
    },

    async revokeConsent({ path, body, context }) {
      const revokedBy = body?.revokedBy ?? '';
      const { consent } = await consents.revokeConsent({ ...path, revokedBy }, context);
      return consentJson(requireRecord(consent));
    },
  });
}

function consentJson(consent: StoredConsent) {
  return { consentId: consent.id, ...writeConsent(consent) };
}
