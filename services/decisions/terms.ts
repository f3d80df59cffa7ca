/** The terms of a loan as they are carried from decision to decision. */
import { create, type JsonObject, toJson } from '@bufbuild/protobuf';
import { type LoanTerms, LoanTermsSchema } from '@creditlane/proto/common/v1/terms';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';

/**
 * The terms that a decision gives, as protobuf JSON. What it does not give is left out, so that
 * laying them over the terms that held before keeps the rest of those.
 */
export function givenTerms(decision: Decision): JsonObject {
  const { firstPaymentDate = '', paymentFrequency: frequency, interestRate, term } = decision;
  return termsJson(
    create(LoanTermsSchema, {
      firstPaymentDate,
      frequency,
      ...(interestRate !== undefined && { interestRate }),
      ...(term !== undefined && { term }),
    }),
  );
}

/** Terms as protobuf JSON, in which what is not known is left out. */
export function termsJson(terms: LoanTerms | undefined): JsonObject {
  return terms === undefined ? {} : (toJson(LoanTermsSchema, terms) as JsonObject);
}
