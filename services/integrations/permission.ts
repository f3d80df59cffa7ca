// What a key may be allowed to do: the closed lists, one for each kind of caller.

/** The permissions that an integration may hold, as the contract names them. */
export const INTEGRATION_PERMISSIONS = ['ENQUEUE_RETAILER_CHAT'] as const;

export type IntegrationPermission = (typeof INTEGRATION_PERMISSIONS)[number];

/** The permissions of the platform's own administration. No integration can hold one. */
export const PLATFORM_PERMISSIONS = ['MANAGE_DIRECTORY', 'MANAGE_INTEGRATIONS'] as const;
