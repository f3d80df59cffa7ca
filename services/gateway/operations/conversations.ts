/** The operations on the conversation of a submission. */
import { CommentSchema } from '@creditlane/proto/conversations/v1/comment';
import {
  CommentAsCreditorResponseSchema,
  type ConversationsService,
} from '@creditlane/proto/conversations/v1/conversations_service';
import type { Client } from '@creditlane/rpc/client';
import { CURSOR, defineHandlers, pageJson, renameRefusedFields } from './handlers.ts';
import { messageWriter } from './json-message.ts';

const writeAddition = messageWriter(CommentAsCreditorResponseSchema);
const writeComment = messageWriter(CommentSchema);

export function conversationOperations(conversations: Client<typeof ConversationsService>) {
  return defineHandlers({
    async commentAsCreditor({ path, body: { userName, comment }, context }) {
      const request = { ...path, userName, comment };
      return writeAddition(await conversations.commentAsCreditor(request, context));
    },

    async commentAsRetailerUser({ path, body: { userId, comment }, context }) {
      await conversations.commentAsRetailerUser({ ...path, userId, comment }, context);
    },

    async getConversation({ path, query, context }, { method }) {
      const { limit, cursor = '' } = query;
      const request = { ...path, limit, cursor, discarded: method === 'HEAD' };
      const page = await renameRefusedFields(conversations.getConversation(request, context), [
        CURSOR,
      ]);
      return pageJson(page.comments.map(writeComment), page.nextCursor);
    },
  });
}
