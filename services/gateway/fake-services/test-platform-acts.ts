/** For tests: the audit of platform acts of one service, as the gateway calls it. */
import { PlatformActsService } from '@creditlane/proto/audit/v1/platform_acts_service';
import { idBefore } from '@creditlane/rpc/lists/list-cursor';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { recordingFake, type TestServices } from './test-services.ts';

/** Lists the acts of `services` that the peer has. */
export function fakePlatformActs(
  services: TestServices,
  peer: keyof TestServices['platformActs'],
): ServiceRoutes {
  return recordingFake(services, PlatformActsService, {
    listPlatformActs: async ({ limit, cursor }) => {
      const before = idBefore(cursor, ['platform acts']);
      const acts = services.platformActs[peer]
        .filter(({ actId = '' }) => actId < before)
        .toSorted((one, other) => ((one.actId ?? '') < (other.actId ?? '') ? 1 : -1));
      return { acts: acts.slice(0, limit) };
    },
  });
}
