/** The wire format of Equifax Canada. */
import type { EquifaxCredentials } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { parseXml, XmlError } from '../answer/xml-document.ts';
import type { BureauFormat } from '../bureau.ts';
import { type EquifaxAnswerOptions, readEquifaxAnswer } from './answer.ts';
import {
  type EquifaxRequestOptions,
  makeEquifaxRequest,
  makeEquifaxTokenRequest,
} from './request.ts';

/** What is not publicly known of the format, or differs between accounts. */
export interface EquifaxFormatOptions extends EquifaxRequestOptions, EquifaxAnswerOptions {}

/** @throws Error if the XML of the options is not well-formed */
export function equifaxFormat(options: EquifaxFormatOptions): BureauFormat<EquifaxCredentials> {
  checkOutputXml(options.outputXml);
  return {
    source: 'EQUIFAX',
    makeTokenRequest: (credentials) => makeEquifaxTokenRequest(credentials, options),
    makeRequest: (inquiry, credentials, token) =>
      makeEquifaxRequest(inquiry, credentials, options, token),
    readRoot: (root) => readEquifaxAnswer(root, options),
  };
}

function checkOutputXml(outputXml: string): void {
  try {
    parseXml(`<CNCustTransmitToEfx>${outputXml}</CNCustTransmitToEfx>`);
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    throw new Error(`the output parameters of Equifax: the XML ${error.message}`);
  }
}
