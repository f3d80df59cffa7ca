/** The permissions of keys: no permission is both one of the platform's and one of integrations. */
import { Permission } from '@creditlane/proto/integrations/v1/integrations_service';

/** The permissions of the platform's own administration. */
export const PLATFORM_PERMISSIONS = [
  'MANAGE_DIRECTORY',
  'MANAGE_INTEGRATIONS',
  'READ_AUDIT',
] as const;

/** The names of an integration's permissions, each once. */
export function permissionNames(permissions: readonly Permission[]): string[] {
  return [...new Set(permissions)].map((permission) => Permission[permission]);
}

/** The permissions of these names. After a rollback the database may name some that only a later version has: they are left out. */
export function readPermissions(names: readonly string[]): Permission[] {
  return names.flatMap((name) => Permission[name as keyof typeof Permission] ?? []);
}
