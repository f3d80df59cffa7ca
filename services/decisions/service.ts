/** The manifest of the decisions service. */
import { defineService } from '@creditlane/service/define-service';
import { startDecisions } from './app.ts';
import { submissionsAndDecisions1763700000000 } from './migrations/0001-submissions-and-decisions.ts';
import { decisionCalls1763900000000 } from './migrations/0002-decision-calls.ts';
import { incomeStatus1764100000000 } from './migrations/0003-income-status.ts';
import { rowSecurity1764600000000 } from './migrations/0004-row-security.ts';
import { deadLetterRedrives1764700000000 } from './migrations/0005-dead-letter-redrives.ts';
import { reconciliation1764700000001 } from './migrations/0006-reconciliation.ts';
import { inboxByDay } from './migrations/0007-inbox-by-day.ts';
import { answersByAge } from './migrations/0008-answers-by-age.ts';
import { outboxByDay } from './migrations/0009-outbox-by-day.ts';
import { creditorsDecide } from './migrations/0010-creditors-decide.ts';
import { decisions as decisionsTable, submissions } from './tables.ts';

export const decisions = defineService(
  {
    name: 'decisions',
    about: 'What each creditor decided on each application submitted to it.',
    serves: 'calls',
    database: {
      name: 'creditlane_decisions',
      entities: [submissions, decisionsTable],
      migrations: [
        submissionsAndDecisions1763700000000,
        decisionCalls1763900000000,
        incomeStatus1764100000000,
        rowSecurity1764600000000,
        deadLetterRedrives1764700000000,
        reconciliation1764700000001,
        ...inboxByDay,
        ...answersByAge,
        ...outboxByDay,
        ...creditorsDecide,
      ],
      lockTimeout: true,
    },
    publishes: ['creditlane.decisions.v1'],
    consumes: ['creditlane.applications.v1'],
    calls: ['applications'],
    settings: {},
  },
  startDecisions,
);
