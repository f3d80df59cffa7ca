/** The service's own identity: of its calls to other services, and of what it does by itself in the audit log. */
import { serviceIdentity } from '@creditlane/rpc/identity';

export const CREDIT_FILE = serviceIdentity('credit-file');
