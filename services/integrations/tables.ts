/** The tables of the integrations service that TypeORM reads. */
import { EntitySchema } from 'typeorm';

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

/** The webhook destination of each integration, with the newest of the sealed secrets that sign its webhooks. */
export const destinations = new EntitySchema<DestinationRow>({
  name: 'destinations',
  columns: {
    id: { type: 'uuid', primary: true },
    integrationId: { type: 'uuid', name: 'integration_id' },
    url: { type: 'text' },
    sealedSecret: { type: 'bytea', name: 'sealed_secret' },
    sealedWith: { type: 'text', name: 'sealed_with' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    revision: { type: 'integer' },
  },
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
    integrationId: { type: 'uuid', name: 'integration_id' },
    sealedSecret: { type: 'bytea', name: 'sealed_secret' },
    sealedWith: { type: 'text', name: 'sealed_with' },
    replacedAt: { type: 'timestamptz', name: 'replaced_at' },
    signsUntil: { type: 'timestamptz', name: 'signs_until' },
  },
  relations: {
    destination: {
      type: 'many-to-one',
      target: 'destinations',
      joinColumn: { name: 'destination_id' },
    },
  },
});

/** These tables, for the data source. */
export const TABLES = [destinations, previousSecrets];
