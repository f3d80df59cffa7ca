/** The open circuit breakers as this process knows them: those of the database, and its own changes since. */
import type { DestinationRevision } from '../events/webhook-event-type.ts';
import type { OpenBreaker } from '../store/breakers.ts';

/** What is to be written of a destination's circuit breaker. */
export type BreakerChange =
  /** `reopened`: the row of the circuit breaker that closed before is still to be deleted. */
  | { readonly kind: 'opened' | 'reopened'; readonly revision: number }
  | { readonly kind: 'probe_failed'; readonly probeId: string }
  | { readonly kind: 'probe_unsent'; readonly probeId: string }
  | { readonly kind: 'closed' };

type Open = Omit<OpenBreaker, 'destinationId' | 'isDue'>;

/** Of a circuit breaker that opens. */
const OPENED = { isProbed: false, isPaused: false, isUntried: false };

export class OpenBreakers {
  /** Is called when a change is to be written, or those of the database are to be read. */
  onChange: () => void = () => undefined;
  #open = new Map<string, Open>();
  /** The probes of this process: delivery ids, by destination id. */
  readonly #probeIds = new Map<string, string>();
  #changes = new Map<string, BreakerChange>();
  /** The revisions of the destinations for which a probe is requested, by id. They are written after the changes. */
  #requested = new Map<string, number>();

  /** Whether nothing but a probe may be sent to the destination. */
  has(destinationId: string): boolean {
    return this.#open.has(destinationId);
  }

  /** Whether the delivery is the probe of its destination. */
  isProbe(destinationId: string, deliveryId: string): boolean {
    return this.#probeIds.get(destinationId) === deliveryId;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The destinations that their owners have paused. */
  get paused(): string[] {
    return [...this.#open].flatMap(([id, { isPaused }]) => (isPaused ? [id] : []));
  }

  /** How many destinations were not tried since the end of a pause. */
  get untried(): number {
    return [...this.#open.values()].filter(({ isUntried }) => isUntried).length;
  }

  /** How many of the open ones are tried by a probe now. */
  get probed(): number {
    // An earlier version may try one that is paused.
    const isProbed = (one: Open) => one.isProbed && !one.isPaused;
    return [...this.#open.values()].filter(isProbed).length;
  }

  /** Opens the circuit breaker at that revision of the destination. */
  open(destinationId: string, revision: number): void {
    this.#open.set(destinationId, { revision, ...OPENED });
    this.#change(destinationId, this.#afterUnwritten(destinationId, { kind: 'opened', revision }));
  }

  /**
   * Whether a request that was prepared may still begin, as far as pauses are concerned. The probe of a paused destination may:
   * it was claimed after the pause, whose end has not been read yet.
   */
  maySend(destinationId: string, deliveryId: string): boolean {
    const isPaused = this.#open.get(destinationId)?.isPaused ?? false;
    return !isPaused || this.isProbe(destinationId, deliveryId);
  }

  /** Closes the circuit breaker after the receiver has answered a delivery, unless its request began before a pause. */
  close(destinationId: string, deliveryId: string): void {
    if (!this.has(destinationId) || !this.maySend(destinationId, deliveryId)) return;
    this.#open.delete(destinationId);
    this.#probeIds.delete(destinationId);
    this.#change(destinationId, { kind: 'closed' });
  }

  /** Keeps the circuit breaker open if the delivery was its probe: other failures are of requests from before. */
  fail(destinationId: string, deliveryId: string): void {
    if (!this.isProbe(destinationId, deliveryId)) return;
    this.#probeIds.delete(destinationId);
    this.#change(destinationId, { kind: 'probe_failed', probeId: deliveryId });
  }

  /** If the delivery was the probe of its destination, lets another one be sent soon: nothing was sent. */
  giveBackProbe(destinationId: string, deliveryId: string): void {
    if (!this.isProbe(destinationId, deliveryId)) return;
    this.#probeIds.delete(destinationId);
    this.#change(destinationId, { kind: 'probe_unsent', probeId: deliveryId });
  }

  /** Has the destination tried at once, because its owner asks for it. */
  requestProbe({ destinationId, revision }: DestinationRevision): void {
    const open = this.#open.get(destinationId);
    if (open !== undefined) this.#open.set(destinationId, { ...open, revision });
    // Even if none is known to be open: another process may have opened the circuit breaker since they were read.
    this.#requested.set(destinationId, revision);
    this.onChange();
  }

  /** Has those destinations tried at once that were set anew since their circuit breakers have opened. */
  requestProbesOfNew(recipients: readonly DestinationRevision[]): void {
    for (const recipient of recipients) {
      const open = this.#open.get(recipient.destinationId);
      if (open !== undefined && open.revision < recipient.revision) this.requestProbe(recipient);
    }
  }

  /** Has what the database holds read at once: a destination was paused or resumed. */
  refresh(): void {
    this.onChange();
  }

  /** Adds a probe of this process. */
  addProbe(destinationId: string, deliveryId: string): void {
    this.#probeIds.set(destinationId, deliveryId);
  }

  takeChanges(): ReadonlyMap<string, BreakerChange> {
    const changes = this.#changes;
    this.#changes = new Map();
    return changes;
  }

  /** What is requested; to be written after the changes. */
  takeRequested(): ReadonlyMap<string, number> {
    const requested = this.#requested;
    this.#requested = new Map();
    return requested;
  }

  /** Takes back what could not be written. */
  restore(
    changes: ReadonlyMap<string, BreakerChange>,
    requested: ReadonlyMap<string, number>,
  ): void {
    const later = [...this.#changes];
    this.#changes = new Map(changes);
    for (const [id, change] of later) this.#changes.set(id, this.#afterUnwritten(id, change));
    this.#requested = new Map([...requested, ...this.#requested]);
  }

  /** Takes over what the database holds, and returns the destinations whose circuit breakers another process has closed. */
  replace(stored: readonly OpenBreaker[]): string[] {
    const open = new Map<string, Open>();
    for (const breaker of stored) {
      if (this.#changes.get(breaker.destinationId)?.kind !== 'closed') {
        open.set(breaker.destinationId, breaker);
      }
    }
    for (const [id, change] of this.#changes) {
      const isOpened = change.kind === 'opened' || change.kind === 'reopened';
      if (isOpened && !open.get(id)?.isPaused) {
        open.set(id, { revision: change.revision, ...OPENED });
      }
    }
    const closed = [...this.#open.keys()].filter((id) => !open.has(id));
    this.#open = open;
    // A probe that is not sent yet when its destination is paused is a delivery like the others.
    for (const id of [...closed, ...this.paused]) this.#probeIds.delete(id);
    return closed;
  }

  /** What is to be written of a later change beside the one that is not written yet. */
  #afterUnwritten(destinationId: string, change: BreakerChange): BreakerChange {
    if (change.kind !== 'opened') return change;
    const unwritten = this.#changes.get(destinationId)?.kind;
    const isInTable = unwritten === 'closed' || unwritten === 'reopened';
    return isInTable ? { ...change, kind: 'reopened' } : change;
  }

  #change(destinationId: string, change: BreakerChange): void {
    this.#changes.set(destinationId, change);
    this.onChange();
  }
}
