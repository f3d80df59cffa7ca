/** The services that the gateway calls. */
export const PEERS = [
  'applications',
  'conversations',
  'credit-file',
  'decisions',
  'integrations',
  'webhook-dispatcher',
] as const;
export type Peer = (typeof PEERS)[number];
