/** For tests: what the fake of the credit-file service stores. */
import type { MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { StoredBureauCredentialsSchema } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import type { PullSchema } from '@creditlane/proto/creditfile/v1/credit_file_service';

/** The latest pull of an applicant, and the latest file. */
export interface TestCreditFile {
  pull: Exclude<MessageInitShape<typeof PullSchema>, MessageShape<typeof PullSchema>>;
  file?: object;
}

export type TestBureauCredentials = Exclude<
  MessageInitShape<typeof StoredBureauCredentialsSchema>,
  MessageShape<typeof StoredBureauCredentialsSchema>
>;
