/** The wire format of Equifax Canada. */
import type { EquifaxCredentials } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import type { BureauFormat } from '../bureau.ts';
import { type EquifaxAnswerOptions, readEquifaxAnswer } from './answer.ts';
import {
  type EquifaxRequestOptions,
  makeEquifaxRequest,
  makeEquifaxTokenRequest,
  sentReferenceOf,
} from './request.ts';

/** What is not publicly known of the format, or differs between accounts. */
export interface EquifaxFormatOptions extends EquifaxRequestOptions, EquifaxAnswerOptions {}

export function equifaxFormat(options: EquifaxFormatOptions): BureauFormat<EquifaxCredentials> {
  return {
    source: 'EQUIFAX',
    makeTokenRequest: (credentials) => makeEquifaxTokenRequest(credentials, options),
    makeRequest: (inquiry, credentials, token) =>
      makeEquifaxRequest(inquiry, credentials, options, token),
    readRoot: (root, inquiry) =>
      readEquifaxAnswer(root, options, {
        ...inquiry,
        reference: sentReferenceOf(inquiry, options),
      }),
  };
}
