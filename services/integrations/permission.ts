// What a key may be allowed to do. Both lists are closed, and no permission is on both.
import { Permission } from '@creditlane/proto/integrations/v1/integrations_service';

/** The permissions of the platform's own administration. */
export const PLATFORM_PERMISSIONS = ['MANAGE_DIRECTORY', 'MANAGE_INTEGRATIONS'] as const;

/** The names of the permissions that an integration is given, each once. The contract lists them. */
export function permissionNames(given: readonly Permission[]): string[] {
  return [...new Set(given)].map((permission) => Permission[permission]);
}
