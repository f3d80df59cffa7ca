/** The public records of an Equifax report: bankruptcies, collections, legal items and secured loans. */

import * as permitted from '../../credit-file-values.ts';
import { type AnswerValues, presentFields, readEach } from '../answer/answer-values.ts';
import { findElement } from '../answer/find-element.ts';
import type { ReportSections } from '../answer/report-sections.ts';
import type { XmlElement } from '../answer/xml-document.ts';
import { readNarratives, readParty } from './party.ts';

export function readBankruptcies(report: ReportSections, values: AnswerValues) {
  return readEach(report.list('CNBankruptciesOrActs/CNBankruptcyOrAct'), (it) =>
    presentFields({
      ...values.dates(it, { dateFiled: 'DateFiled' }),
      court: readParty(findElement(it, 'CourtId'), values),
      caseNumber: values.text(it, 'CaseNumberAndTrustee'),
      type: values.code(it, 'Type', 'bankruptcyType', permitted.BANKRUPTCY_TYPES),
      filer: values.code(it, 'Filer', 'bankruptcyFiler', permitted.BANKRUPTCY_FILERS),
      disposition: presentFields({
        type: values.code(
          it,
          'IntentOrDisposition',
          'bankruptcyDisposition',
          permitted.BANKRUPTCY_DISPOSITIONS,
        ),
        ...values.dates(it, { date: 'IntentOrDisposition/Date' }),
      }),
      liabilityAmount: values.amount(it, 'LiabilityAmount'),
      assetAmount: values.amount(it, 'AssetAmount'),
      narratives: readNarratives(it, values, permitted.BANKRUPTCY_NARRATIVES),
    }),
  );
}

export function readCollections(report: ReportSections, values: AnswerValues) {
  return readEach(report.list('CNCollections/CNCollection'), (it) =>
    presentFields({
      type: values.code(it, '', 'collectionType', permitted.COLLECTION_TYPES),
      ...values.dates(it, {
        assignedDate: 'AssignedDate',
        dateOfLastPayment: 'DateOfLastPayment',
        datePaid: 'DatePaid',
      }),
      agency: readParty(findElement(it, 'AgencyId'), values),
      agencyAccountNumber: values.text(it, 'LedgerNumber'),
      creditor: presentFields({
        accountNumberAndOrName: values.text(it, 'CollectionCreditor/AccountNumberAndOrName'),
      }),
      industry: readIndustry(findElement(it, 'CollectionCreditor'), values),
      reason: values.code(it, 'Reason', 'collectionReason', permitted.COLLECTION_REASONS),
      originalAmount: values.amount(it, 'OriginalAmount'),
      balanceAmount: values.amount(it, 'BalanceAmount'),
      narratives: readNarratives(it, values, permitted.COLLECTION_NARRATIVES),
    }),
  );
}

export function readLegalItems(report: ReportSections, values: AnswerValues) {
  return readEach(report.list('CNLegalItems/CNLegalItem'), (it) =>
    presentFields({
      type: values.code(it, '', 'legalItemType', permitted.LEGAL_ITEM_TYPES),
      ...values.dates(it, { dateFiled: 'DateFiled', dateSatisfied: 'DateSatisfied' }),
      court: readParty(findElement(it, 'CourtId'), values),
      caseNumber: values.text(it, 'CaseNumber'),
      status: values.code(it, 'Status', 'legalItemStatus', permitted.LEGAL_ITEM_STATUSES),
      amount: values.amount(it, 'Amount'),
      defendant: values.text(it, 'Defendant'),
      plaintiff: values.text(it, 'Plaintiff'),
      lawyerNameAddress: values.text(it, 'LawyerNameAddress'),
      narratives: readNarratives(it, values, permitted.LEGAL_ITEM_NARRATIVES),
    }),
  );
}

export function readSecuredLoans(report: ReportSections, values: AnswerValues) {
  return readEach(report.list('CNSecuredLoans/CNSecuredLoan'), (it) =>
    presentFields({
      ...values.dates(it, { dateFiled: 'DateFiled', maturityDate: 'MaturityDate' }),
      court: readParty(findElement(it, 'CourtId'), values),
      creditor: presentFields({
        nameAddressAndAmount: values.text(it, 'SecuredLoanCreditorId/NameAddressAndAmount'),
      }),
      industry: readIndustry(findElement(it, 'SecuredLoanCreditorId'), values),
      narratives: readNarratives(it, values, permitted.SECURED_LOAN_NARRATIVES),
    }),
  );
}

/** A text, or a coded element, of which the interface has the description. */
function readIndustry(from: XmlElement | undefined, values: AnswerValues): string | undefined {
  return values.text(from, 'Industry') ?? values.words(from, 'Industry');
}
