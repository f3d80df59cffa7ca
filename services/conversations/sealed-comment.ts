/** Encrypts the personal data of a comment, its text and its author's name, and decrypts it. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedValue } from '@creditlane/crypto/sealed-column';
import { CommentSchema } from '@creditlane/proto/conversations/v1/comment';
import { sealedComments } from './store/sealed-tables.ts';

/** The personal data of a comment. */
export interface CommentContent {
  userName: string;
  comment: string;
}

/** Seals the content of one comment of one retailer's conversation. */
export function sealComment(
  ring: KeyRing,
  { userName, comment }: CommentContent,
  commentId: string,
  retailerId: string,
): SealedValue {
  const message = create(CommentSchema, { author: { userName }, comment });
  return sealedComments.seal(ring, toBinary(CommentSchema, message), commentId, retailerId);
}

/**
 * @throws SealError unless `sealed` is the content of this comment of this retailer
 * @throws UnknownKeyError while the key ring lacks its key
 */
export function openComment(
  ring: KeyRing,
  sealed: Uint8Array,
  commentId: string,
  retailerId: string,
): CommentContent {
  const plaintext = sealedComments.unseal(ring, sealed, commentId, retailerId);
  const { author, comment } = fromBinary(CommentSchema, plaintext);
  return { userName: author?.userName ?? '', comment };
}
