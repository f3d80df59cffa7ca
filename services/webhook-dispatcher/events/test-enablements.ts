/** For tests: retailers' enablings of integrations, as events of the bus. */
import { randomUUID } from 'node:crypto';
import { toMessage } from '@creditlane/events/message';
import type { TestFixture } from '../test-fixture.ts';

export interface TestEnablement {
  integrationId: string;
  retailerId?: string;
  configJson?: string;
  /** False: the integrations service has deleted the enablement. */
  exists?: boolean;
}

/** The event of an enabling that the integrations service knows. */
export function retailerEnabled(
  fixture: TestFixture,
  { integrationId, retailerId, configJson, exists = true }: TestEnablement,
) {
  const enablementId = randomUUID();
  const { retailerId: first } = fixture;
  const enablement = { retailerId: retailerId ?? first, retailerName: 'Harbour Motors' };
  if (exists) {
    fixture.integrations.enablements.set(enablementId, {
      ...enablement,
      configJson: configJson ?? '',
    });
  }
  const time = new Date();
  return toMessage(
    {
      id: randomUUID(),
      topic: 'creditlane.integrations.v1',
      key: `${integrationId} ${enablement.retailerId}`,
      type: 'creditlane.integrations.v1.IntegrationEnabled',
      payload: {
        enablementId,
        integrationId,
        retailerId: enablement.retailerId,
        enabledAt: time.toISOString(),
      },
      time,
    },
    'integrations',
  );
}
