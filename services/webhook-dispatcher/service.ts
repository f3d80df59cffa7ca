/** The manifest of the webhook dispatcher. */
import { defineService } from '@creditlane/service/define-service';
import { startWebhookDispatcher } from './app.ts';
import { webhooks1763700000000 } from './migrations/0001-webhooks.ts';
import { destinationRevisions1763800000000 } from './migrations/0002-destination-revisions.ts';
import { messageTraces1763900000000 } from './migrations/0003-message-traces.ts';
import { messageReferences1764000000000 } from './migrations/0004-message-references.ts';
import { replays1764300000000 } from './migrations/0005-replays.ts';
import { deliveriesByDestination1764300000001 } from './migrations/0006-deliveries-by-destination.ts';
import { replayJobs1764400000000 } from './migrations/0007-replay-jobs.ts';
import { rowSecurity1764600000000 } from './migrations/0008-row-security.ts';
import { redrives1764700000000 } from './migrations/0009-redrives.ts';
import { reconciliation1764700000001 } from './migrations/0010-reconciliation.ts';
import { inboxByDay } from './migrations/0011-inbox-by-day.ts';
import { openBreakers1765200000003 } from './migrations/0012-open-breakers.ts';
import { deliveryStorage } from './migrations/0013-delivery-storage.ts';
import { deliveryQueue1765300000002 } from './migrations/0014-delivery-queue.ts';
import { answersByAge } from './migrations/0015-answers-by-age.ts';
import { historyStorage } from './migrations/0016-history-storage.ts';
import { historyByDay } from './migrations/0017-history-by-day.ts';
import { testEventLeases1765600000000 } from './migrations/0018-test-event-leases.ts';
import { pausedDestinations1766200000000 } from './migrations/0019-paused-destinations.ts';
import { attemptAnswers1766300000000 } from './migrations/0020-attempt-answers.ts';
import { destinationRates1766400000000 } from './migrations/0021-destination-rates.ts';
import { testedDestinations1766500000000 } from './migrations/0022-tested-destinations.ts';
import { SETTINGS } from './settings.ts';

export const webhookDispatcher = defineService(
  {
    name: 'webhook-dispatcher',
    about: 'Signed webhooks: who receives an event, in what order, and when it is tried again.',
    serves: 'calls',
    database: {
      name: 'creditlane_webhooks',
      entities: [],
      migrations: [
        webhooks1763700000000,
        destinationRevisions1763800000000,
        messageTraces1763900000000,
        messageReferences1764000000000,
        replays1764300000000,
        deliveriesByDestination1764300000001,
        replayJobs1764400000000,
        rowSecurity1764600000000,
        redrives1764700000000,
        reconciliation1764700000001,
        ...inboxByDay,
        openBreakers1765200000003,
        ...deliveryStorage,
        deliveryQueue1765300000002,
        ...answersByAge,
        ...historyStorage,
        ...historyByDay,
        testEventLeases1765600000000,
        pausedDestinations1766200000000,
        attemptAnswers1766300000000,
        destinationRates1766400000000,
        testedDestinations1766500000000,
      ],
      poolSize: { default: 8, min: 3 },
      sequentialScans: false,
    },
    consumes: [
      'creditlane.decisions.v1',
      'creditlane.integrations.v1',
      'creditlane.applications.v1',
    ],
    calls: ['integrations', 'applications', 'decisions'],
    // Only the reconciler asks decisions, which no earlier configuration names.
    defaultAddresses: { decisions: 'decisions:9000' },
    egressPorts: 'EGRESS_PORTS',
    settings: SETTINGS,
  },
  startWebhookDispatcher,
);
