/** Contents of webhooks that another service has deleted. */
import { Fault } from '@creditlane/rpc/fault';
import { ContentLostError } from '../events/webhook-event-type.ts';

/**
 * Awaits the content that another service is asked for. Rejects with a `ContentLostError` of the fault's code
 * when that service answers that the content is not found: no later attempt can succeed either.
 */
export async function contentOrLost<Content>(content: Promise<Content>): Promise<Content> {
  try {
    return await content;
  } catch (error) {
    const isLost = error instanceof Fault && error.kind === 'not_found';
    throw isLost ? new ContentLostError(error.code) : error;
  }
}
