// Writes an answer of Equifax Canada about the person of the tests' inquiry.

const SUBJECT =
  '<SubjectName><LastName>ONEIL SONS</LastName><FirstName>ZOE</FirstName></SubjectName>' +
  '<SubjectId><DateOfBirth>1976-02-29</DateOfBirth></SubjectId>';
export const HIT = '<HitCode code="1" description="HIT"/>';

interface AnswerParts {
  request?: string;
  creditFile?: string;
  subject?: string;
  sections?: string;
  /** Attributes of the report, and of the element around it. */
  attributes?: string;
  around?: string;
}

function equifaxReport({
  request = '',
  creditFile = HIT,
  subject = SUBJECT,
  sections = '',
  attributes = '',
  around = '',
}: AnswerParts): string {
  const header = `<Request>${request}</Request><CreditFile>${creditFile}</CreditFile><Subject>${subject}</Subject>`;
  const report = `<CNConsumerCreditReport${attributes}><CNHeader>${header}</CNHeader>${sections}</CNConsumerCreditReport>`;
  return `<EfxReport${around}><CNConsumerCreditReports>${report}</CNConsumerCreditReports></EfxReport>`;
}

export function equifaxAnswer(...reports: AnswerParts[]): string {
  const xmlns = ' xmlns="http://www.equifax.ca/XMLSchemas/EfxToCust"';
  return `<EfxTransmit${xmlns}>${reports.map(equifaxReport).join('')}</EfxTransmit>`;
}

export const withSections = (sections: string) => equifaxAnswer({ sections });
