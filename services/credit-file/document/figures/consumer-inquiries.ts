/** Inquiries that the consumer made, through a service of a bureau or of another company, about the own file. */
import type { CreditFile } from '../../credit-file.ts';

type Local = NonNullable<CreditFile['localInquiries']>[number];
type Foreign = NonNullable<CreditFile['foreignInquiries']>[number];
type Inquiry = Local & Foreign;

/**
 * Neither bureau marks these inquiries, so that they are known by the names of services that do not lend. A company that
 * lends as well has none here: an inquiry of a creditor counts.
 */
const SERVICES =
  /^(?:EQUIFAX (?:PERSONAL|CONSUMER)|AUTH(?:ORIZED)? ECONSUMER|TRANSUNION (?:INTERACTIVE|CONSUMER)|TUCI |CREDIT KARMA|CONSUMER DISCLOSURE)/i;

/** The inquiries of creditors, local and foreign, and apart from them those that the consumer made. */
export function splitInquiries({ localInquiries = [], foreignInquiries = [] }: CreditFile): {
  local: Local[];
  foreign: Foreign[];
  ofConsumer: Inquiry[];
} {
  const isByCreditor = (inquiry: Inquiry) => !isByConsumer(memberOf(inquiry));
  const all: Inquiry[] = [...localInquiries, ...foreignInquiries];
  return {
    local: localInquiries.filter(isByCreditor),
    foreign: foreignInquiries.filter(isByCreditor),
    ofConsumer: all.filter((inquiry) => !isByCreditor(inquiry)),
  };
}

/** The name of the member that inquired, whose number may follow it. */
export function memberOf({ customer, memberNameAndNumber }: Inquiry): string | undefined {
  return customer?.name ?? memberNameAndNumber;
}

/** Whether the member of this name inquired for the consumer, not as a creditor. */
function isByConsumer(memberName: string | undefined): boolean {
  return memberName !== undefined && SERVICES.test(memberName);
}
