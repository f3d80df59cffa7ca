/** The operation of measurements on large tables: a decision, timed until its webhook arrives. */
import { copySubmission } from '../data/submissions.ts';
import type { startScalePlatform } from '../platform/scale-platform.ts';
import type { Operation } from './load-patterns.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';
import { writeDecision } from './write-decision.ts';

/** Of all operations, so that platforms can share a receiver. */
let written = 0;

/**
 * Makes the operation that records a decision on the next of so many new applications. The webhooks of one application wait
 * for each other, and the versions of its rows for their removal.
 */
export async function makeDeliveryOperation(
  { baseUrl, databaseUrls, ...submission }: Awaited<ReturnType<typeof startScalePlatform>>,
  receiver: WebhookReceiver,
  applications: number,
): Promise<Operation> {
  const ids = await copySubmission({ fromUrl: databaseUrls.decisions }, submission, applications);
  return async () => {
    const applicationId = ids[written % applications];
    if (applicationId === undefined) throw new Error('there are too few applications');
    const marker = `m${written++}`;
    const arrived = receiver.waitFor(marker);
    await writeDecision(baseUrl, { ...submission, applicationId }, marker);
    return arrived;
  };
}
