// These promises are tested again with each service as a process of its own, all of them on one platform.
import type {} from '@creditlane/events/kafka/test-kafka';
import { inject } from 'vitest';
import { shareTestPlatform } from './platform/shared-platform.ts';

// Without Kafka there is no platform, and test/setup/processes.skip.ts skips every test.
if (inject('kafkaBrokers') !== '') {
  shareTestPlatform({ dispatcher: { RETRY_DELAYS: '1s,1s,1s,1s,1s,1s' } });
}
// The first file requires that nobody has decided on the demo application.
await import('./rejected-requests.test.ts');
await import('./webhooks/decision-webhooks.test.ts');
await import('./webhooks/webhook-retries.test.ts');
await import('./idempotency.test.ts');
await import('./access/tenant-isolation.test.ts');
await import('./integration-enablement.test.ts');
