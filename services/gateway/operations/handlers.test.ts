import { DecisionSchema } from '@creditlane/proto/decisions/v1/decision';
import { expect, test } from 'vitest';
import { defineHandlers } from './handlers.ts';
import { messageReader } from './service-messages/json-message.ts';

const submission = { applicationId: 'a', creditorId: 'c' };
const decided = { ...submission, decision: 'APPROVED' };

// tsc checks this file: where a line below "@ts-expect-error" compiles after all, `npm run check` fails.
test('handlers are checked against the OpenAPI document', () => {
  const handlers = [
    defineHandlers({ getDecision: async ({ path }) => ({ ...path, decision: 'APPROVED' }) }),

    // @ts-expect-error: the document has no such parameter.
    defineHandlers({ revokeKey: async ({ path }) => void path.creditorId }),

    // @ts-expect-error: the operation takes no body.
    defineHandlers({ revokeKey: async ({ body }) => void body.name }),

    // @ts-expect-error: the document does not describe the field.
    defineHandlers({ getDecision: async () => ({ ...decided, maxPayment: 1 }) }),

    // @ts-expect-error: the document calls the field a number.
    defineHandlers({ getDecision: async () => ({ ...decided, interestRate: '6.99' }) }),

    // @ts-expect-error: the document requires the field.
    defineHandlers({ getDecision: async () => submission }),

    // @ts-expect-error: an item of the list has a field that the document does not describe.
    defineHandlers({ listDecisions: async () => ({ data: [{ score: 1 }], nextCursor: null }) }),

    // @ts-expect-error: the operation answers without a body.
    defineHandlers({ revokeKey: async () => ({ revoked: true }) }),

    // @ts-expect-error: the document has no such operation.
    defineHandlers({ readDecision: async () => decided }),
  ];
  expect(handlers).toHaveLength(9);
});

test('a reader of messages is checked against the OpenAPI document', () => {
  const readDecision = messageReader(DecisionSchema);
  defineHandlers({
    async recordDecision({ body, path }) {
      // @ts-expect-error: the document does not describe maxPayment, which the reader would read.
      const { decision } = readDecision(body);
      return { ...path, decision: String(decision) };
    },
  });
  expect(readDecision).toBeTypeOf('function');
});
