/** The operations on the conversation of a submission. */
import { CommentSchema } from '@creditlane/proto/conversations/v1/comment';
import {
  CommentAsCreditorResponseSchema,
  type ConversationsService,
} from '@creditlane/proto/conversations/v1/conversations_service';
import type { Client } from '@creditlane/rpc/client';
import { defineHandlers } from './handlers.ts';
import { messageWriter } from './service-messages/json-message.ts';
import { answerPage } from './service-messages/service-answers.ts';

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
      const request = { ...path, ...query, discarded: method === 'HEAD' };
      const call = conversations.getConversation(request, context);
      return await answerPage(call, (page) => page.comments.map(writeComment));
    },
  });
}
