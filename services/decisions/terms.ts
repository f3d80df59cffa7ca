/** The terms of a loan. Each term stays in force until a later decision sets it to another value. */
import { create, type JsonObject, toJson } from '@bufbuild/protobuf';
import { type LoanTerms, LoanTermsSchema } from '@creditlane/proto/common/v1/terms';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';

/**
 * The terms that a decision sets, as protobuf JSON. Terms that the decision does not set are absent, so
 * that merging the result over the earlier terms keeps them.
 */
export function termsOf(decision: Decision): JsonObject {
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

/** Terms as protobuf JSON; unset terms are absent. */
export function termsJson(terms: LoanTerms | undefined): JsonObject {
  return terms === undefined ? {} : (toJson(LoanTermsSchema, terms) as JsonObject);
}
