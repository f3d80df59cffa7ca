import { serviceIdentity } from '@creditlane/rpc/identity';

/** The service's name: the issuer of its identity tokens, and its consumer group. */
export const SERVICE = 'webhook-dispatcher';

/** For calls in the service's own name. */
export const SERVICE_IDENTITY = serviceIdentity(SERVICE);
