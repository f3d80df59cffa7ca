/** The credit file of the REST interface, as its OpenAPI document describes it. */
import type { components } from '@creditlane/client';

export type CreditFile = components['schemas']['CreditFile'];
export type Trade = components['schemas']['CreditFileTrade'];
export type PaymentRate = components['schemas']['CreditFilePaymentRate'];
