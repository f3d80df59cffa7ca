// Operations that succeed only where the demo's retailers have credentials at a bureau that answers.
export const NEEDS_BUREAU = ['requestCreditFile', 'readCreditFile', 'readCreditFileDocument'];
