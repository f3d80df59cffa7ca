/** The states of deliveries: their names in the database, and their values in the contract. */
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';

export type DeliveryStateName = 'waiting' | 'due' | 'delivered' | 'dead';

export const DELIVERY_STATES: Readonly<Record<DeliveryStateName, DeliveryState>> = {
  waiting: DeliveryState.WAITING,
  due: DeliveryState.DUE,
  delivered: DeliveryState.DELIVERED,
  dead: DeliveryState.DEAD,
};

export const DELIVERY_STATE_NAMES: readonly DeliveryStateName[] = [
  'waiting',
  'due',
  'delivered',
  'dead',
];

/** Undefined for UNSPECIFIED. */
export function stateNameOf(state: DeliveryState): DeliveryStateName | undefined {
  return DELIVERY_STATE_NAMES.find((name) => DELIVERY_STATES[name] === state);
}
