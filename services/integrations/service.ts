/** The manifest of the integrations service. */
import { defineService } from '@creditlane/service/define-service';
import { startIntegrations } from './app.ts';
import { integrations1763700000000 } from './migrations/0001-integrations.ts';
import { destinationRevision1763800000000 } from './migrations/0002-destination-revision.ts';
import { previousSecrets1764100000000 } from './migrations/0003-previous-secrets.ts';
import { enablement1764200000000 } from './migrations/0004-enablement.ts';
import { retailerEnablements1764300000000 } from './migrations/0005-retailer-enablements.ts';
import { rateLimits1764400000000 } from './migrations/0006-rate-limits.ts';
import { rowSecurity1764600000000 } from './migrations/0007-row-security.ts';
import { previousSecretsSealedWith1765000000000 } from './migrations/0008-previous-secrets-sealed-with.ts';
import { answersSealedWith1765000000001 } from './migrations/0009-answers-sealed-with.ts';
import { answersByAge } from './migrations/0010-answers-by-age.ts';
import { outboxByDay } from './migrations/0011-outbox-by-day.ts';
import { quotaUnits1766100000000 } from './migrations/0012-quota-units.ts';
import { issuedKeys1766200000000 } from './migrations/0013-issued-keys.ts';
import { eventFilters1766300000000 } from './migrations/0014-event-filters.ts';
import { deliveryRates1766400000000 } from './migrations/0015-delivery-rates.ts';
import { platformActs1766500000000 } from './migrations/0016-platform-acts.ts';
import { SETTINGS } from './settings.ts';

export const integrations = defineService(
  {
    name: 'integrations',
    about:
      'Integrations with their keys, permissions, rate limits, grants, enablement and webhook destinations.',
    serves: 'calls',
    database: {
      name: 'creditlane_integrations',
      entities: [],
      migrations: [
        integrations1763700000000,
        destinationRevision1763800000000,
        previousSecrets1764100000000,
        enablement1764200000000,
        retailerEnablements1764300000000,
        rateLimits1764400000000,
        rowSecurity1764600000000,
        previousSecretsSealedWith1765000000000,
        answersSealedWith1765000000001,
        ...answersByAge,
        ...outboxByDay,
        quotaUnits1766100000000,
        issuedKeys1766200000000,
        eventFilters1766300000000,
        deliveryRates1766400000000,
        platformActs1766500000000,
      ],
      keptTables: ['platform_acts'],
      lockTimeout: true,
    },
    publishes: ['creditlane.integrations.v1'],
    calls: ['applications'],
    settings: SETTINGS,
  },
  startIntegrations,
);
