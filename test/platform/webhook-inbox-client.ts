import { requireDescribedWebhook } from '@creditlane/gateway/document/test-described-webhooks';
import { eventually } from './eventually.ts';

/** A webhook as the webhook inbox stored it. */
export interface ReceivedWebhook {
  receivedAt: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  /** What the inbox found when it checked the signatures with the secrets that it knows. */
  signatures: { service: string; standard: string };
}

/** How the webhook inbox answers: 204, 500, never, or 302. Only `accept` stores the webhook. */
export type InboxBehaviour = 'accept' | 'fail' | 'hang' | 'redirect';

/** Calls the webhook inbox over HTTP. Throws for a webhook that the OpenAPI document does not describe. */
export class WebhookInboxClient {
  readonly #url: string;
  /** The webhooks that were compared with the document, by id and time. */
  readonly #compared = new Set<string>();

  constructor(url: string) {
    this.#url = url;
  }

  /** Every webhook received since the inbox was last cleared, oldest first. */
  async list(): Promise<ReceivedWebhook[]> {
    const response = await fetch(this.#url, { headers: { accept: 'application/json' } });
    const webhooks = (await response.json()) as ReceivedWebhook[];
    for (const webhook of webhooks) {
      const id = `${webhook.headers['webhook-id']} ${webhook.receivedAt}`;
      if (!this.#compared.has(id)) requireDescribedWebhook(webhook);
      this.#compared.add(id);
    }
    return webhooks;
  }

  /** Resolves with all received webhooks as soon as there are at least `count`. */
  async waitFor(count: number, timeoutMs = 30_000): Promise<ReceivedWebhook[]> {
    return eventually(
      `${count} webhooks`,
      async () => {
        const webhooks = await this.list();
        return webhooks.length >= count ? webhooks : undefined;
      },
      timeoutMs,
    );
  }

  /** Tells the inbox a secret, by the answer to the request that made it. */
  async addSecret(answer: { secret: string }): Promise<void> {
    const body = JSON.stringify(answer);
    const response = await fetch(`${this.#url}/secret`, { method: 'PUT', body });
    if (!response.ok) throw new Error(`the inbox refused the secret: ${response.status}`);
  }

  /** Deletes the webhooks, which are compared with the document before. */
  async clear(): Promise<void> {
    await this.list();
    await fetch(this.#url, { method: 'DELETE' });
  }

  async setBehaviour(mode: InboxBehaviour): Promise<void> {
    const response = await fetch(`${this.#url}/behaviour`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ mode }),
    });
    if (!response.ok) throw new Error(`the inbox refused mode "${mode}": ${response.status}`);
  }
}
