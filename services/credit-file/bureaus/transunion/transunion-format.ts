/** The wire format of TransUnion Canada. */
import type { TransUnionCredentials } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import type { BureauFormat } from '../bureau.ts';
import { readTransUnionAnswer, type TransUnionAnswerOptions } from './answer.ts';
import { compileTemplate, templateValues } from './request-template.ts';

export interface TransUnionFormatOptions extends TransUnionAnswerOptions {
  /** The whole body of a request, with placeholders. */
  readonly requestTemplate: string;
  readonly product: string;
  readonly certificate: string;
  readonly contentType: string;
  /** The value of the header SOAPAction; none when empty. */
  readonly soapAction: string;
}

/** @throws RequestTemplateError or XmlError, as `compileTemplate` does */
export function transUnionFormat(
  options: TransUnionFormatOptions,
): BureauFormat<TransUnionCredentials> {
  const { contentType, soapAction, product, certificate } = options;
  const sendsReference = /\{\{\s*reference\s*\}\}/.test(options.requestTemplate);
  const fillIn = compileTemplate(options.requestTemplate);
  return {
    source: 'TRANSUNION',
    makeTokenRequest: () => undefined,
    makeRequest: (inquiry, credentials) => ({
      url: credentials.baseUrl,
      headers: {
        'content-type': contentType,
        ...(soapAction !== '' && { soapaction: `"${soapAction}"` }),
      },
      body: fillIn(templateValues(inquiry, credentials, { product, certificate })),
    }),
    // Without the placeholder, the reference in an answer is not the pull's.
    readRoot: (root, { reference, subject }) =>
      readTransUnionAnswer(root, options, { reference: sendsReference ? reference : '', subject }),
  };
}
