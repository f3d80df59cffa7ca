/** The states of deliveries: their names in the database, and their values in the contract. */
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';

export const DELIVERY_STATES = {
  waiting: DeliveryState.WAITING,
  due: DeliveryState.DUE,
  delivered: DeliveryState.DELIVERED,
  dead: DeliveryState.DEAD,
} as const;

export type DeliveryStateName = keyof typeof DELIVERY_STATES;

export const DELIVERY_STATE_NAMES = Object.keys(DELIVERY_STATES) as readonly DeliveryStateName[];

/** Undefined for UNSPECIFIED. */
export function stateNameOf(state: DeliveryState): DeliveryStateName | undefined {
  return DELIVERY_STATE_NAMES.find((name) => DELIVERY_STATES[name] === state);
}
