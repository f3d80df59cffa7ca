/** For tests: both formats with the settings of a new installation, and what they read. */
import { readCodeTables } from './answer/code-tables.ts';
import type { BureauAnswer, Inquiry } from './bureau.ts';
import { equifaxFormat } from './equifax/equifax-format.ts';
import { transUnionFormat } from './transunion/transunion-format.ts';

const { equifax, transUnion } = readCodeTables();

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

export const FORMATS = {
  equifax: equifaxFormat({ tables: equifax, partialDateDay: 1, reportRule: 'FIRST_HIT' }),
  transunion: transUnionFormat({
    tables: transUnion,
    partialDateDay: 1,
    requestTemplate: TEMPLATE,
  }),
};

export type FormatName = keyof typeof FORMATS;

export function readAnswer(name: FormatName, body: string | Uint8Array): BureauAnswer {
  return FORMATS[name].readAnswer(200, typeof body === 'string' ? Buffer.from(body) : body);
}

/** The file and the unknown codes of an answer that has a file. */
export function readFile(name: FormatName, body: string | Uint8Array) {
  const answer = readAnswer(name, body);
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
