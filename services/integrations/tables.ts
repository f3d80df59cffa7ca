// The tables of the integrations service.
import { EntitySchema } from 'typeorm';
import type { Quota } from './rate-limit/quota.ts';

export interface IntegrationRow {
  id: string;
  name: string;
  permissions: string[];
  createdAt: Date;
  /** The limit of each of its keys; null, like `rateLimitWindowS`, where the gateway's setting applies. */
  rateLimitRequests: number | null;
  rateLimitWindowS: number | null;
}

export interface KeyRow {
  id: string;
  integrationId: string;
  digest: Buffer;
  createdAt: Date;
  revokedAt: Date | null;
}

export interface RateLimitRow {
  keyId: string;
  wholeInMs: number;
  perRequestMs: number | null;
  perRequestAt: Date | null;
  takenAt: Date;
  blocks: Quota['blocks'];
}

export interface RetailerGrantRow {
  integrationId: string;
  retailerId: string;
  grantedAt: Date;
  revokedAt: Date | null;
  /** The retailer's enabling that is in force; null where the platform alone gave the grant. */
  enablementId: string | null;
}

export interface RetailerEnablementRow {
  id: string;
  integrationId: string;
  retailerId: string;
  retailerName: string;
  /** Null without a configuration, like `sealedWith`. */
  sealedConfig: Buffer | null;
  sealedWith: string | null;
  enabledAt: Date;
}

export interface CreditorGrantRow {
  integrationId: string;
  creditorId: string;
  grantedAt: Date;
  revokedAt: Date | null;
  disabledAt: Date | null;
  disabledReason: string | null;
  enablement: string | null;
  enablementSetAt: Date | null;
}

export interface DestinationRow {
  id: string;
  integrationId: string;
  url: string;
  sealedSecret: Buffer;
  sealedWith: string;
  createdAt: Date;
  /** How many times the destination was set. */
  revision: number;
  previousSecrets: PreviousSecretRow[];
}

export interface PreviousSecretRow {
  id: string;
  destinationId: string;
  integrationId: string;
  sealedSecret: Buffer;
  sealedWith: string;
  replacedAt: Date;
  signsUntil: Date;
  destination: DestinationRow;
}

const integrationId = {
  type: 'uuid',
  name: 'integration_id',
  foreignKey: { target: 'integrations' },
} as const;

/** Programs of third parties that act for retailers and creditors. */
const integrations = new EntitySchema<IntegrationRow>({
  name: 'integrations',
  columns: {
    id: { type: 'uuid', primary: true },
    name: { type: 'text' },
    permissions: { type: 'text', array: true },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    rateLimitRequests: { type: 'integer', name: 'rate_limit_requests', nullable: true },
    rateLimitWindowS: { type: 'integer', name: 'rate_limit_window_s', nullable: true },
  },
});

/** API keys of integrations, of which only the SHA-256 digest is stored. */
const keys = new EntitySchema<KeyRow>({
  name: 'keys',
  columns: {
    id: { type: 'uuid', primary: true },
    integrationId,
    digest: { type: 'bytea' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    revokedAt: { type: 'timestamptz', name: 'revoked_at', nullable: true },
  },
  indices: [
    { name: 'keys_digest', columns: ['digest'], unique: true },
    { name: 'keys_integration', columns: ['integrationId'] },
  ],
});

/** What the keys of integrations and of the platform have used of their quotas, as of `takenAt`. */
const rateLimits = new EntitySchema<RateLimitRow>({
  name: 'rate_limits',
  columns: {
    keyId: { type: 'uuid', name: 'key_id', primary: true },
    wholeInMs: { type: 'double precision', name: 'whole_in_ms' },
    perRequestMs: { type: 'double precision', name: 'per_request_ms', nullable: true },
    perRequestAt: { type: 'timestamptz', name: 'per_request_at', nullable: true },
    takenAt: { type: 'timestamptz', name: 'taken_at' },
    blocks: { type: 'jsonb' },
  },
});

/** The retailers that integrations may act for. A revoked grant keeps its row. */
const retailerGrants = new EntitySchema<RetailerGrantRow>({
  name: 'retailer_grants',
  columns: {
    integrationId: { ...integrationId, primary: true },
    retailerId: { type: 'uuid', name: 'retailer_id', primary: true },
    grantedAt: { type: 'timestamptz', name: 'granted_at' },
    revokedAt: { type: 'timestamptz', name: 'revoked_at', nullable: true },
    enablementId: {
      type: 'uuid',
      name: 'enablement_id',
      nullable: true,
      foreignKey: { target: 'retailer_enablements' },
    },
  },
  indices: [
    { name: 'retailer_grants_live', columns: ['retailerId'], where: 'revoked_at IS NULL' },
    { name: 'retailer_grants_enablement', columns: ['enablementId'], unique: true },
  ],
});

/** Retailers' own enabling of integrations, with the name that the retailer had, and the sealed configuration. */
const retailerEnablements = new EntitySchema<RetailerEnablementRow>({
  name: 'retailer_enablements',
  columns: {
    id: { type: 'uuid', primary: true },
    integrationId,
    retailerId: { type: 'uuid', name: 'retailer_id' },
    retailerName: { type: 'text', name: 'retailer_name' },
    sealedConfig: { type: 'bytea', name: 'sealed_config', nullable: true },
    sealedWith: { type: 'text', name: 'sealed_with', nullable: true },
    enabledAt: { type: 'timestamptz', name: 'enabled_at' },
  },
  indices: [
    { name: 'retailer_enablements_sealed_with', columns: ['sealedWith'] },
    { name: 'retailer_enablements_age', columns: ['enabledAt'] },
  ],
});

/**
 * The creditors that integrations may act for, each with the integration's enablement for the creditor.
 * While the enablement is in status DISABLED (`disabledAt`), the grant is not live; `enablement` is every
 * other status, and null until one is set. Revoking a grant and granting it again leaves its enablement.
 */
const creditorGrants = new EntitySchema<CreditorGrantRow>({
  name: 'creditor_grants',
  columns: {
    integrationId: { ...integrationId, primary: true },
    creditorId: { type: 'uuid', name: 'creditor_id', primary: true },
    grantedAt: { type: 'timestamptz', name: 'granted_at' },
    revokedAt: { type: 'timestamptz', name: 'revoked_at', nullable: true },
    disabledAt: { type: 'timestamptz', name: 'disabled_at', nullable: true },
    disabledReason: { type: 'text', name: 'disabled_reason', nullable: true },
    enablement: { type: 'text', nullable: true },
    enablementSetAt: { type: 'timestamptz', name: 'enablement_set_at', nullable: true },
  },
  indices: [
    {
      name: 'creditor_grants_live',
      columns: ['creditorId'],
      where: 'revoked_at IS NULL AND disabled_at IS NULL',
    },
  ],
});

/** The webhook destination of each integration, with the newest of the sealed secrets that sign its webhooks. */
export const destinations = new EntitySchema<DestinationRow>({
  name: 'destinations',
  columns: {
    id: { type: 'uuid', primary: true },
    integrationId,
    url: { type: 'text' },
    sealedSecret: { type: 'bytea', name: 'sealed_secret' },
    sealedWith: { type: 'text', name: 'sealed_with' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    revision: { type: 'integer', default: 1 },
  },
  indices: [
    { name: 'destinations_integration', columns: ['integrationId'], unique: true },
    { name: 'destinations_sealed_with', columns: ['sealedWith'] },
  ],
  relations: {
    previousSecrets: {
      type: 'one-to-many',
      target: 'previous_secrets',
      inverseSide: 'destination',
    },
  },
});

/** Secrets that were replaced and sign beside the newest one until `signsUntil`. */
const previousSecrets = new EntitySchema<PreviousSecretRow>({
  name: 'previous_secrets',
  columns: {
    id: { type: 'uuid', primary: true },
    destinationId: { type: 'uuid', name: 'destination_id' },
    integrationId,
    sealedSecret: { type: 'bytea', name: 'sealed_secret' },
    sealedWith: { type: 'text', name: 'sealed_with' },
    replacedAt: { type: 'timestamptz', name: 'replaced_at' },
    signsUntil: { type: 'timestamptz', name: 'signs_until' },
  },
  indices: [
    { name: 'previous_secrets_destination', columns: ['destinationId'] },
    { name: 'previous_secrets_sealed_with', columns: ['sealedWith'] },
  ],
  relations: {
    destination: {
      type: 'many-to-one',
      target: 'destinations',
      joinColumn: { name: 'destination_id' },
      onDelete: 'CASCADE',
    },
  },
});

/** All tables, for the data source. */
export const TABLES = [
  integrations,
  keys,
  rateLimits,
  retailerGrants,
  retailerEnablements,
  creditorGrants,
  destinations,
  previousSecrets,
];
