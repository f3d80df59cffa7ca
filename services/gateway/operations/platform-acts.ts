/** The operation that lists what the administration of the platform did. */
import {
  PlatformActSchema,
  type PlatformActsService,
} from '@creditlane/proto/audit/v1/platform_acts_service';
import type { Client } from '@creditlane/rpc/client';
import { cursorAfter } from '@creditlane/rpc/lists/list-cursor';
import { defineHandlers } from './handlers.ts';
import { messageWriter } from './service-messages/json-message.ts';
import { answerPage } from './service-messages/service-answers.ts';

const writeAct = messageWriter(PlatformActSchema, { except: ['permissions'] });

/** The name of the list, of which every service has a part. */
const LIST = ['platform acts'] as const;

export function platformActOperations(services: readonly Client<typeof PlatformActsService>[]) {
  return defineHandlers({
    async listPlatformActs({ query: { limit, cursor = '' }, context }) {
      const call = async () => {
        const request = { limit: limit + 1, cursor };
        const parts = await Promise.all(
          services.map((it) => it.listPlatformActs(request, context)),
        );
        // Ids of version 7 are in the order of their times.
        const acts = parts
          .flatMap((part) => part.acts)
          .toSorted((one, other) => (one.actId < other.actId ? 1 : -1));
        const page = acts.slice(0, limit);
        const last = acts.length > limit ? page.at(-1) : undefined;
        return {
          acts: page,
          nextCursor: last === undefined ? '' : cursorAfter(LIST, [last.actId]),
        };
      };
      return await answerPage(call(), ({ acts }) =>
        acts.map((act) => ({
          ...writeAct(act),
          ...(SETS_PERMISSIONS.has(act.action) && { permissions: act.permissions }),
        })),
      );
    },
  });
}

const SETS_PERMISSIONS = new Set(['INTEGRATION_REGISTERED', 'INTEGRATION_CHANGED']);
