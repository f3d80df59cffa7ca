/** For tests: the conversations service, as the gateway calls it. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ConversationsService } from '@creditlane/proto/conversations/v1/conversations_service';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { newId } from '@creditlane/runtime/ids';
import { recordingFake, type TestServices } from './test-services.ts';

export function fakeConversationsService(services: TestServices): ServiceRoutes[] {
  const createdAt = timestampFromDate(new Date('2026-03-02T15:04:05.678Z'));
  return [
    recordingFake(services, ConversationsService, {
      commentAsCreditor: async () => ({ id: newId(), createdAt }),
      commentAsRetailerUser: async () => ({}),
      getConversation: async (_request, call) => {
        await services.gates.getConversation.pop()?.(call);
        return { comments: services.comments, nextCursor: 'next' };
      },
    }),
  ];
}
