/** The destinations that this process knows to be disabled: their events are not written at once, which would be in vain. */
import { LRUCache } from 'lru-cache';
import type { NewEvent, StoredState } from './plan.ts';

const MAX_KNOWN = 20_000;

export class KnownDisabled {
  readonly #ids = new LRUCache<string, true>({ max: MAX_KNOWN });

  /** Remembers which recipients of the events are disabled as of the state that was read for them. */
  update(events: readonly NewEvent[], { disabledRevisions }: StoredState): void {
    for (const { destinationId, revision } of recipientsOf(events)) {
      if ((disabledRevisions.get(destinationId) ?? 0) >= revision) {
        this.#ids.set(destinationId, true);
      } else this.#ids.delete(destinationId);
    }
  }

  /** Whether a recipient of the events was disabled when its state was last read. */
  includesRecipientOf(events: readonly NewEvent[]): boolean {
    if (this.#ids.size === 0) return false;
    return recipientsOf(events).some(({ destinationId }) => this.#ids.has(destinationId));
  }
}

const recipientsOf = (events: readonly NewEvent[]) =>
  events.flatMap(({ webhook }) => webhook?.recipients ?? []);
