/** ConversationsService: translates between the messages of the contract and the use cases. */
import { ConversationsService } from '@creditlane/proto/conversations/v1/conversations_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { submissionCall } from '@creditlane/rpc/submission-call';
import { type AddCommentDeps, commentAsCreditor, commentAsRetailerUser } from './add-comment.ts';
import { type ReadConversationDeps, readConversation } from './read-conversation.ts';

/** The routes to mount. */
export function conversationsRoutes(deps: AddCommentDeps & ReadConversationDeps): ServiceRoutes {
  return implement(ConversationsService, {
    commentAsCreditor: (request, call) =>
      commentAsCreditor(deps, submissionCall(request, call), request),

    async commentAsRetailerUser(request, call) {
      await commentAsRetailerUser(deps, submissionCall(request, call), request);
      return {};
    },

    async getConversation(request, call) {
      const page = await readConversation(deps, submissionCall(request, call), request);
      return { comments: page.items, nextCursor: page.nextCursor };
    },
  });
}
