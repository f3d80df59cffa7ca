/** What each simulated bureau does with the requests to it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReceivedInquiry } from './personas/inquiry.ts';
import type { AnswerForm } from './send-answer.ts';

/** A request for a credit file. */
export interface ReceivedRequest {
  form: AnswerForm;
  /** Absent when the request is not even readable. */
  inquiry?: Omit<ReceivedInquiry, 'date'>;
  /** The XML of the answer when the bureau makes no file of the request. */
  refusal?: string | undefined;
}

/** Reads a request with its whole body; undefined when it was no inquiry and has been answered. */
export type Bureau = (
  request: IncomingMessage,
  body: string,
  response: ServerResponse,
) => ReceivedRequest | undefined;
