/** For tests: both formats with the settings of a new installation, and what they read. */
import { create } from '@bufbuild/protobuf';
import {
  EquifaxCredentialsSchema,
  EquifaxTransport,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import { readSettings } from '@creditlane/runtime/setting';
import type { CreditFile } from '../credit-file.ts';
import { readAnswer as readBody } from './answer/read-answer.ts';
import type { BureauAnswer, Inquiry } from './bureau.ts';
import { BUREAU_SETTINGS } from './bureau-settings.ts';
import { equifaxFormat } from './equifax/equifax-format.ts';
import { transUnionFormat } from './transunion/transunion-format.ts';

export const TEMPLATE =
  '<REL4Request><Member>{{memberCode}}</Member><Password>{{password}}</Password><Name>{{firstName}} {{lastName}}' +
  '</Name><Born>{{dateOfBirth}}</Born><Street>{{streetNo}} {{streetName}}</Street></REL4Request>';

export const INQUIRY: Inquiry = {
  reference: 'b1',
  subject: {
    firstName: 'Zoë',
    lastName: "O'Neil & <Sons>",
    sin: '046454286',
    dateOfBirth: '1976-02-29',
    occupation: 'Baker',
    addresses: [
      {
        streetNo: '12',
        streetName: 'Main St',
        suite: '4B',
        city: 'Ottawa',
        province: 'ON',
        postalCode: 'K1A 0B1',
      },
      {
        streetNo: '7',
        streetName: 'Rue Côté',
        city: 'Laval',
        province: 'QC',
        postalCode: 'H7A 1A1',
      },
    ],
  },
};

/** A retailer's credentials at Equifax. */
export function equifaxCredentials(transport: 'OAUTH' | 'SOAP' | 'FORM') {
  return create(EquifaxCredentialsSchema, {
    ...{ customerCode: 'A123', customerNumber: '999ZB12345', securityCode: 'sesame' },
    ...{ clientId: 'client', clientSecret: 'secret', baseUrl: 'https://sts.example/v1' },
    transport: EquifaxTransport[transport],
  });
}

/** An inquiry about the person of a file. */
export function inquiryAbout({ subject = {} }: CreditFile): Inquiry {
  const { firstName = '', lastName = '', dateOfBirth = '1976-02-29', sin } = subject;
  const asked = { firstName, lastName, dateOfBirth, ...(sin && { sin }), addresses: [] };
  return { reference: 'b1', subject: asked };
}

/** The inquiries to which the answers in `golden/` came. */
export const GOLDEN_INQUIRIES: Record<FormatName, Inquiry> = {
  equifax: inquiryAbout({
    subject: { firstName: 'Héloïse', lastName: 'Tremblay-Côté', sin: '046454286' },
  }),
  transunion: inquiryAbout({
    subject: { firstName: 'Marc', lastName: 'Lavoie', dateOfBirth: '1981-07-03' },
  }),
};

const { equifax, transUnion, codeTables, partialDateDay } = readSettings(
  { TRANSUNION_REQUEST_TEMPLATE: TEMPLATE },
  BUREAU_SETTINGS,
);
export const EQUIFAX_OPTIONS = { ...equifax, tables: codeTables.equifax, partialDateDay };
export const TRANSUNION_OPTIONS = { ...transUnion, tables: codeTables.transUnion, partialDateDay };

export const FORMATS = {
  equifax: equifaxFormat(EQUIFAX_OPTIONS),
  transunion: transUnionFormat(TRANSUNION_OPTIONS),
};

export type FormatName = keyof typeof FORMATS;

/** What the format reads in the answer to the inquiry. */
export function readAnswer(
  name: FormatName,
  body: string | Uint8Array,
  inquiry: Inquiry = INQUIRY,
): BureauAnswer {
  return readBody(typeof body === 'string' ? Buffer.from(body) : body, FORMATS[name], inquiry);
}

/** The file and the unknown codes of an answer that has a file. */
export function readFile(name: FormatName, body: string | Uint8Array, inquiry?: Inquiry) {
  const answer = readAnswer(name, body, inquiry);
  if (answer.kind !== 'file') throw new Error(`the answer is ${JSON.stringify(answer)}`);
  return answer;
}

/** An answer of Equifax with one report of these sections. */
export function equifaxAnswer(
  sections: string,
  hitCode = '<HitCode code="1" description="Hit"/>',
): string {
  return `<EfxTransmit>${equifaxReport(sections, hitCode)}</EfxTransmit>`;
}

export function equifaxReport(sections: string, hitCode: string): string {
  const header = `<CNHeader><CreditFile>${hitCode}</CreditFile></CNHeader>`;
  const report = `<CNConsumerCreditReport>${header}${sections}</CNConsumerCreditReport>`;
  return `<EfxReport><CNConsumerCreditReports>${report}</CNConsumerCreditReports></EfxReport>`;
}

/** An answer of TransUnion with a report of these sections. */
export function transUnionAnswer(sections: string): string {
  return `<REL4Report><Date>20261122</Date><TU_FFR_Report><Hit>Y</Hit>${sections}</TU_FFR_Report></REL4Report>`;
}
