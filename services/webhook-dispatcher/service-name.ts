/** The service's name: the issuer of its identity tokens, and its consumer group. */
export const SERVICE = 'webhook-dispatcher';
