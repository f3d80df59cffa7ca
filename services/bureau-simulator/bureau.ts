/** What each simulated bureau does with the requests to it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReceivedInquiry } from './personas/inquiry.ts';
import type { ProviderError } from './personas/persona.ts';
import type { AnswerForm } from './send-answer.ts';

/** A request for a credit file. */
export type ReceivedRequest = { form: AnswerForm } & (
  | { inquiry: Omit<ReceivedInquiry, 'date'>; problem?: undefined }
  /** The bureau makes no file of it; without an inquiry it is not even readable. */
  | { inquiry?: Omit<ReceivedInquiry, 'date'>; problem: ProviderError }
);

/** Reads a request with its whole body; undefined when it was no inquiry and has been answered. */
export type Bureau = (
  request: IncomingMessage,
  body: string,
  response: ServerResponse,
) => ReceivedRequest | undefined;
