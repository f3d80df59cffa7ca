/** Log lines about destinations, which name the integration that owns each. */
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Destinations } from './destinations.ts';

/** How many ids a line names. */
export const MAX_LOGGED_IDS = 20;

/** `fields` hold no URL, whose query may be a secret, and nothing of a payload. */
export type DestinationLog = (
  level: 'debug' | 'info' | 'warn',
  destinationId: string,
  message: string,
  fields?: object,
) => void;

/** The lines of a destination that was removed, or cannot be looked up, name its id alone. */
export function createDestinationLog(
  log: Log,
  destinations: Pick<Destinations, 'get'>,
): DestinationLog {
  const findOwner = async (destinationId: string) => {
    const found = await destinations.get(destinationId, undefined).catch(() => undefined);
    return found && { integrationId: found.integrationId, integration: found.integrationName };
  };
  return (level, destinationId, message, fields) => {
    if (!log.isLevelEnabled(level)) return;
    void findOwner(destinationId).then((owner) => {
      log[level]({ destinationId, ...owner, ...fields }, message);
    });
  };
}
