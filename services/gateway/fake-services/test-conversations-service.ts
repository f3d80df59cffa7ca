/** For tests: the conversations service, as the gateway calls it. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ConversationsService } from '@creditlane/proto/conversations/v1/conversations_service';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import { newId } from '@creditlane/runtime/ids';
import type { TestServices } from './test-services.ts';

export function fakeConversationsService(services: TestServices): ServiceRoutes[] {
  const createdAt = timestampFromDate(new Date('2026-03-02T15:04:05.678Z'));
  return [
    fakeService(ConversationsService, {
      commentAsCreditor: async (request, call) => {
        services.record('commentAsCreditor', request, call);
        return { id: newId(), createdAt };
      },
      commentAsRetailerUser: async (request, call) => {
        services.record('commentAsRetailerUser', request, call);
        if (call.idempotency?.key === 'replayed') call.markReplayed();
        return {};
      },
      getConversation: async (request, call) => {
        services.record('getConversation', request, call);
        await services.gates.getConversation.pop()?.(call);
        return { comments: services.comments, nextCursor: 'next' };
      },
    }),
  ];
}
