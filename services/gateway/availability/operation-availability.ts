/** Which operations can be answered at present, by the services that each needs. */
import type { Health, HealthCheck, HealthCheckRegistry } from '@creditlane/runtime/health';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { Operation } from '../document/operation.ts';

/**
 * How long a gateway that starts waits for a service that is away. A gateway that starts beside services that
 * work has connected to all of them before it gets requests, and one that starts while a service is away serves
 * what does not need it.
 */
const CONNECT_GRACE_MS = 10_000;

/**
 * Keeps the gateway ready while it can answer any operation, or one service alone is away, and tells which ones it cannot answer: in the
 * readiness and as a metric. A gateway that became unready without one service would leave no replica for the
 * operations that do not need that service. Without integrations there are none, and clients get 503 with Retry-After from a
 * gateway that is ready, and no answer from one that is not.
 */
export class OperationAvailability {
  readonly #operations: readonly Pick<Operation, 'id' | 'needs'>[];
  readonly #checks: { peer: string; check: HealthCheck }[] = [];
  /** Accepts the checks of the clients, by the name of the called service. */
  readonly peers: HealthCheckRegistry;
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #hadAll = false;

  constructor(
    operations: readonly Pick<Operation, 'id' | 'needs'>[],
    { health, metrics }: { health: Health; metrics: Metrics },
    nowMs = () => performance.now(),
  ) {
    this.#operations = operations;
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
    this.peers = {
      add: (peer, check) => {
        this.#checks.push({ peer, check });
        health.optional.add(peer, check);
      },
    };
    health.add('services', () => this.#isReady());
    health.reportOperations(() => this.unavailable());
    metrics.gauge(
      'operation_available',
      'Whether the services that the operation needs are reachable: 1, or 0 while it is answered with 503.',
      ['operation'],
      (gauge) => {
        const unavailable = new Set(this.unavailable());
        for (const { id: operation } of operations) {
          gauge.set({ operation }, unavailable.has(operation) ? 0 : 1);
        }
      },
    );
  }

  /** The operations that cannot be answered, because a service that they need is not reachable. */
  unavailable(away = this.#away()): string[] {
    return this.#operations
      .filter(({ needs }) => needs.some((peer) => away.has(peer)))
      .map(({ id }) => id);
  }

  #away(): ReadonlySet<string> {
    return new Set(this.#checks.filter(({ check }) => check() !== true).map(({ peer }) => peer));
  }

  #isReady(): true | string {
    const away = this.#away();
    const { length } = this.unavailable(away);
    if (away.size > 1 && length === this.#operations.length) return 'no operation can be answered';
    if (length === 0) this.#hadAll = true;
    const isConnecting = !this.#hadAll && this.#nowMs() - this.#startedMs < CONNECT_GRACE_MS;
    return isConnecting ? 'connecting' : true;
  }
}
