/** The body of a stored message. */
import type { RenderedBody } from './body-schema.ts';
import type { ContentReader, WebhookEventType } from './webhook-event-type.ts';

/** What is stored of a body: itself, or the reference from which it is rendered each time. */
export interface StoredContent {
  readonly body: string | null;
  readonly reference: string | null;
}

/**
 * The body that was rendered at intake, and matched its schema then, or one that is rendered now. Rejects as the event type's
 * `payload` does.
 */
export async function findBody(
  { name, rendering, renderBody }: Pick<WebhookEventType, 'name' | 'rendering' | 'renderBody'>,
  { body, reference }: StoredContent,
  reader: ContentReader,
): Promise<RenderedBody> {
  if (body !== null) return { body, mismatch: undefined };
  if (rendering.at !== 'sending' || reference === null) {
    throw new Error(`a ${name} without a body and a reference cannot be rendered`);
  }
  return renderBody(await rendering.payload(reference, reader));
}
