/** The credit file of the REST interface, from which the simulator writes the bureaus' answers. */
import type { components } from '@creditlane/client';

type Schemas = components['schemas'];

export type CreditFile = Schemas['CreditFile'];
export type Subject = Schemas['CreditFileSubject'];
export type Trade = Schemas['CreditFileTrade'];
