/** The body of every decision that is measured; its webhook has about 400 bytes. */
export const DECISION = {
  decision: 'APPROVED',
  firstPaymentDate: '2027-02-01',
  paymentFrequency: 'BI_WEEKLY',
  interestRate: 6.49,
  paymentAmount: 412.37,
  term: 72,
  conditions: 'Proof of income not older than 30 days, and a void cheque',
} as const;
