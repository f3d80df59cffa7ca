import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const PREFIX = 'creditlane_';

/** From a cache hit to a slow peer, in seconds. */
const DEFAULT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Described<L extends string> {
  name: string;
  help: string;
  labelNames: readonly L[];
  registers: Registry[];
}

/**
 * This process's instruments, in a registry of their own.
 *
 * Names are given without the `creditlane_` prefix. Asking twice for a name gives the same
 * instrument, so several services in one process can count together. Label values come from closed
 * lists and templates, never from ids: each value is a time series for as long as the process lives.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #instruments = new Map<string, { instrument: unknown; shape: string }>();
  readonly #collects: { name: string; collect: () => Promise<void> | void }[] = [];
  readonly #collectFailures: Counter<'metric'>;

  /** With `processFigures`, memory, processor time and event loop lag are among the metrics. */
  constructor({ processFigures = false }: { processFigures?: boolean } = {}) {
    if (processFigures) collectDefaultMetrics({ register: this.#registry });
    this.#collectFailures = this.counter(
      'metric_collect_failures_total',
      'Figures that could not be read when the metrics were asked for.',
      ['metric'],
    );
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Something that only grows; by convention its name ends in `_total`. */
  counter<L extends string = never>(
    name: string,
    help: string,
    labels: readonly L[] = [],
  ): Counter<L> {
    return this.#once('counter', name, help, labels, (described) => new Counter(described));
  }

  /**
   * A level that rises and falls. `collect` sets it whenever the metrics are read; each asker's
   * `collect` counts.
   */
  gauge<L extends string = never>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    collect?: (gauge: Gauge<L>) => Promise<void> | void,
  ): Gauge<L> {
    const gauge = this.#once('gauge', name, help, labels, (described) => new Gauge(described));
    if (collect) this.#collects.push({ name, collect: () => collect(gauge) });
    return gauge;
  }

  /** A distribution; `buckets` are upper bounds in the unit the name ends in, seconds by default. */
  histogram<L extends string = never>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    buckets: readonly number[] = DEFAULT_BUCKETS,
  ): Histogram<L> {
    return this.#once('histogram', name, help, labels, (described) => {
      return new Histogram({ ...described, buckets: [...buckets] });
    });
  }

  /** All metrics in Prometheus' text format. A figure that cannot be read leaves out itself alone. */
  async text(): Promise<string> {
    await Promise.all(
      this.#collects.map(async ({ name, collect }) => {
        try {
          await collect();
        } catch {
          // The scrape is the one place to say so: a log line every few seconds would drown the rest.
          this.#collectFailures.inc({ metric: PREFIX + name });
        }
      }),
    );
    return this.#registry.metrics();
  }

  #once<L extends string, T>(
    kind: string,
    name: string,
    help: string,
    labels: readonly L[],
    make: (described: Described<L>) => T,
  ): T {
    const shape = `${kind}(${labels.join(', ')})`;
    const known = this.#instruments.get(name);
    if (known === undefined) {
      const described = { name: PREFIX + name, help, labelNames: labels };
      const instrument = make({ ...described, registers: [this.#registry] });
      this.#instruments.set(name, { instrument, shape });
      return instrument;
    }
    if (known.shape !== shape) {
      throw new TypeError(`metric ${name} is a ${known.shape} and cannot be a ${shape} as well`);
    }
    // The shape says that the instrument was made by the same method with the same labels.
    return known.instrument as T;
  }
}
