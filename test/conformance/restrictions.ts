// Where this server takes or shows less than the interface specification 1.0.0 allows, on purpose.

export interface Restriction {
  specified: string;
  here: string;
  reason: string;
  /** Fields of a request's body, each of which the operation refuses. */
  refused?: { id: string; fields: Record<string, unknown> };
}

export const RESTRICTIONS: Restriction[] = [
  {
    specified: "a decision's figures are numbers",
    here: '`interestRate`, `paymentAmount`, `salePrice`, `downPayment` and `term` below zero are refused',
    reason: 'such a figure is a mistake, and a retailer would be shown it as an offer',
    refused: {
      id: 'recordDecision',
      fields: { interestRate: -1, paymentAmount: -1, salePrice: -1, downPayment: -1, term: -1 },
    },
  },
  {
    specified: "a decision's figures are numbers and dates",
    here: 'a rate over 100, a term of no or over 600 months, and a date before 2000 or after 2100 are refused',
    reason: 'only a typing error is such a figure',
    refused: {
      id: 'recordDecision',
      fields: {
        interestRate: 699,
        term: 0,
        firstPaymentDate: '0026-03-31',
        deliveryDate: '2206-03-31',
      },
    },
  },
  {
    specified: 'a body has the fields of its table',
    here: 'another spelling of such a field, or its name in another table, is refused; other fields are ignored',
    reason: 'the figure would be lost, and an earlier one announced in its place',
    refused: { id: 'recordDecision', fields: { interest_rate: 12.99, frequency: 'MONTHLY' } },
  },
  {
    specified: "`userName` and `comment` of a creditor's comment are strings",
    here: 'blank ones are refused',
    reason: "nobody could read them; the specification says so of a retailer user's comment",
    refused: { id: 'commentAsCreditor', fields: { userName: ' ', comment: '' } },
  },
  {
    specified: '`sin` in a credit file is a string',
    here: 'it is masked, as `***-***-286`, without the permission `READ_SIN`',
    reason: 'most integrations need the file and not the number',
  },
  {
    specified: "a credit file's `source` may be `CREDIT_APP` or null",
    here: 'it is the bureau',
    reason: 'every file comes from a pull',
  },
];
