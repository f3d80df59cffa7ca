/** Equifax Canada's answers in the wire format: credit files and errors. */
import type { CreditFile } from '../credit-file.ts';
import { element, group, list, text } from '../xml-text.ts';
import {
  nameOf,
  writeBankruptcy,
  writeCollection,
  writeConsumerStatement,
  writeForeignInquiry,
  writeLegalItem,
  writeLocalInquiry,
  writePerson,
  writeScore,
  writeSecuredLoan,
  writeSpecialService,
} from './records.ts';
import { writeTrades } from './trades.ts';
import { coded } from './values.ts';

const ANSWER_NAMESPACE = 'http://www.equifax.ca/XMLSchemas/EfxToCust';

export interface EquifaxAnswerOptions {
  /** The customer reference number of the request, which the answer repeats. */
  reference?: string;
  /** Further reports of the same answer, after the first. */
  otherFiles?: readonly CreditFile[];
}

/**
 * Equifax Canada's answer with a credit file. Lost are what the format has no element for: the industry of
 * foreign inquiries, cents, the day of dates outside header, inquiries and trades, the status of a trade
 * that also has a rate, and all narratives of a score but the first.
 */
export function writeEquifaxAnswer(file: CreditFile, options: EquifaxAnswerOptions = {}): string {
  const files = [file, ...(options.otherFiles ?? [])];
  return document(...files.map((it) => writeReport(it, options.reference)));
}

/** Equifax Canada's answer to an inquiry of which it makes no credit file; its HTTP status is 200, too. */
export function writeEquifaxError(code: string, description: string, detail?: string): string {
  const error = element(
    'Error',
    {},
    text('SourceCode', 'STS'),
    text('ErrorCode', code),
    text('Description', description),
    text('AdditionalInformation', detail),
    text('ActionDescription', 'Correct the request and send it again'),
  );
  return document(group('CNErrorReport', group('Errors', error)));
}

function document(...reports: string[]): string {
  const transmit = element('EfxTransmit', { xmlns: ANSWER_NAMESPACE }, ...reports);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${transmit}\n`;
}

function writeReport(file: CreditFile, reference: string | undefined): string {
  const report = element(
    'CNConsumerCreditReport',
    {},
    writeHeader(file, reference),
    writePerson(file.subject),
    list('CNBankruptciesOrActs', file.bankruptcies, writeBankruptcy),
    list('CNCollections', file.collections, writeCollection),
    list('CNLegalItems', file.legalItems, writeLegalItem),
    list('CNSecuredLoans', file.securedLoans, writeSecuredLoan),
    writeTrades(file.trades),
    list('CNLocalInquiries', file.localInquiries, writeLocalInquiry),
    list('CNForeignInquiries', file.foreignInquiries, writeForeignInquiry),
    list('CNSpecialServices', file.specialServices, writeSpecialService),
    list('CNConsumerStatements', file.consumerStatements, writeConsumerStatement),
    list('CNScores', file.scores, writeScore),
  );
  return group('EfxReport', group('CNConsumerCreditReports', report));
}

const LANGUAGE_INDICATORS = { EN: 'E', FR: 'F' };

function writeHeader(file: CreditFile, reference: string | undefined): string {
  const { subject } = file;
  return group(
    'CNHeader',
    group(
      'Request',
      text('CustomerReferenceNumber', reference),
      text('CustomerNumber', file.customerNumber),
      text('LanguageIndicator', file.language && LANGUAGE_INDICATORS[file.language]),
    ),
    group(
      'CreditFile',
      text('UniqueNumber', file.id),
      text('FileSinceDate', file.fileSinceDate),
      text('DateOfLastActivity', file.lastActivityDate),
      text('DateOfRequest', file.requestedDate),
      group(
        'FileOwner',
        text('BureauCode', file.bureau?.id),
        text('BureauContactInformation', file.bureau?.name),
      ),
      coded('HitCode', file.hitType),
    ),
    group(
      'Subject',
      group('SubjectName', nameOf(subject ?? {})),
      group(
        'SubjectId',
        text('SocialInsuranceNumber', subject?.sin),
        text('DateOfBirth', subject?.dateOfBirth),
        text('DateOfDeath', subject?.dateOfDeath),
      ),
    ),
  );
}
