/** The service's own identity, as which the audit log records what it does by itself. */
import { serviceIdentity } from '@creditlane/rpc/identity';

export const CREDIT_FILE = serviceIdentity('credit-file');
