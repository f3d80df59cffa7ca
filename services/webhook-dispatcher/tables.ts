/** The tables of the dispatcher that are read through TypeORM: those behind the list of deliveries. */
import { EntitySchema } from 'typeorm';

export interface MessageRow {
  eventId: string;
  event: string;
  numberingKey: string;
}

export interface DestinationStateRow {
  destinationId: string;
  disabledReason: string | null;
}

export interface AttemptRow {
  deliveryId: string;
  number: number;
  startedAt: Date;
  durationMs: number;
  status: number | null;
  failure: string | null;
}

export type DeliveryStateName = 'waiting' | 'due' | 'delivered' | 'dead';

export interface DeliveryRow {
  id: string;
  eventId: string;
  destinationId: string;
  orderingKey: string;
  sequence: string | null;
  state: DeliveryStateName;
  reason: string | null;
  createdAt: Date;
  nextAttemptAt: Date | null;
  message: MessageRow;
  /** `null` until the first result at the destination. */
  destination: DestinationStateRow | null;
}

/** The message of an event, stored once for all its destinations. */
const messages = new EntitySchema<MessageRow>({
  name: 'messages',
  columns: {
    eventId: { type: 'uuid', name: 'event_id', primary: true },
    event: { type: 'text' },
    numberingKey: { type: 'uuid', name: 'creditor_id' },
  },
});

/** The state of a destination. */
const destinationStates = new EntitySchema<DestinationStateRow>({
  name: 'destination_states',
  columns: {
    destinationId: { type: 'uuid', name: 'destination_id', primary: true },
    disabledReason: { type: 'text', name: 'disabled_reason', nullable: true },
  },
});

/** One event to one destination. */
export const deliveries = new EntitySchema<DeliveryRow>({
  name: 'deliveries',
  columns: {
    id: { type: 'uuid', primary: true },
    eventId: { type: 'uuid', name: 'event_id' },
    destinationId: { type: 'uuid', name: 'destination_id' },
    orderingKey: { type: 'uuid', name: 'application_id' },
    sequence: { type: 'bigint', nullable: true },
    state: { type: 'text' },
    reason: { type: 'text', nullable: true },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    nextAttemptAt: { type: 'timestamptz', name: 'next_attempt_at', nullable: true },
  },
  relations: {
    message: {
      type: 'many-to-one',
      target: 'messages',
      joinColumn: { name: 'event_id' },
    },
    destination: {
      type: 'many-to-one',
      target: 'destination_states',
      joinColumn: { name: 'destination_id' },
    },
  },
});

/** The requests of deliveries. */
export const attempts = new EntitySchema<AttemptRow>({
  name: 'attempts',
  columns: {
    deliveryId: { type: 'uuid', name: 'delivery_id', primary: true },
    number: { type: 'smallint', primary: true },
    startedAt: { type: 'timestamptz', name: 'started_at' },
    durationMs: { type: 'integer', name: 'duration_ms' },
    status: { type: 'smallint', nullable: true },
    failure: { type: 'text', nullable: true },
  },
});

/** All entities, for the data source. */
export const TABLES = [messages, destinationStates, deliveries, attempts];
