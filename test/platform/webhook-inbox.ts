import { eventually } from './eventually.ts';

/** A webhook as the demo's receiver kept it. */
export interface Arrival {
  receivedAt: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export type Behaviour = 'accept' | 'fail' | 'hang' | 'redirect';

/** The demo's webhook receiver, seen from outside. */
export class Inbox {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async arrivals(): Promise<Arrival[]> {
    const response = await fetch(this.#url, { headers: { accept: 'application/json' } });
    return (await response.json()) as Arrival[];
  }

  /** What arrived, as soon as there are `count` of them. */
  async waitFor(count: number, timeoutMs = 30_000): Promise<Arrival[]> {
    return eventually(
      `${count} webhooks`,
      async () => {
        const arrivals = await this.arrivals();
        return arrivals.length >= count ? arrivals : undefined;
      },
      timeoutMs,
    );
  }

  async empty(): Promise<void> {
    await fetch(this.#url, { method: 'DELETE' });
  }

  async behave(mode: Behaviour): Promise<void> {
    const response = await fetch(`${this.#url}/behaviour`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ mode }),
    });
    if (!response.ok) throw new Error(`the inbox refused to ${mode}: ${response.status}`);
  }
}
