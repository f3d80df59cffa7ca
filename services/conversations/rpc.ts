/** ConversationsService: translates between the messages of the contract and the use cases. */
import { ConversationsService } from '@creditlane/proto/conversations/v1/conversations_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { submissionOf } from '@creditlane/rpc/submission';
import { type AddCommentDeps, commentAsCreditor, commentAsRetailerUser } from './add-comment.ts';
import { type ReadConversationDeps, readConversation } from './read-conversation.ts';

/** The routes to mount. */
export function conversationsRoutes(deps: AddCommentDeps & ReadConversationDeps): ServiceRoutes {
  return implement(ConversationsService, {
    commentAsCreditor: (request, call) =>
      commentAsCreditor(deps, submissionOf(request), call, request),

    async commentAsRetailerUser(request, call) {
      await commentAsRetailerUser(deps, submissionOf(request), call, request);
      return {};
    },

    async getConversation(request, call) {
      const page = await readConversation(deps, submissionOf(request), call, request);
      return { comments: page.items, nextCursor: page.nextCursor };
    },
  });
}
