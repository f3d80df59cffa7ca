import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const PREFIX = 'creditlane_';

/** In seconds, from a cache hit to a slow peer. */
const DEFAULT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Described<L extends string> {
  name: string;
  help: string;
  labelNames: readonly L[];
  registers: Registry[];
}

/**
 * The metrics of a process, in a registry of their own.
 *
 * Names are passed without the `creditlane_` prefix. A second request for a name returns the same
 * instrument, so that several services in one process share it. A counter of which an alert reads the increase sets its
 * series to 0 beforehand, because Prometheus sees no increase in the first value of a series. Label values must come from closed lists
 * and templates, never from ids of records, because every value is a time series for the life of the process.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #instruments = new Map<string, { instrument: unknown; shape: string }>();
  readonly #collects: { names: readonly string[]; collect: () => Promise<void> | void }[] = [];
  readonly #collectFailures: Counter<'metric'>;

  /** `processFigures` adds memory, CPU time and event loop lag of the process. */
  constructor({ processFigures = false }: { processFigures?: boolean } = {}) {
    // The lag of the event loop is sampled every 100 ms; the default of 10 ms wakes an idle process for each sample.
    // The figure includes these 100 ms, which the alert and the panels in deploy/monitoring subtract.
    if (processFigures) {
      collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 100 });
    }
    this.#collectFailures = this.counter(
      'metric_collect_failures_total',
      'Metrics whose value could not be read during a scrape.',
      ['metric'],
    );
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** A value that only increases. By convention its name ends in `_total`. */
  counter<L extends string = never>(
    name: string,
    help: string,
    labels: readonly L[] = [],
  ): Counter<L> {
    return this.#once('counter', name, help, labels, (described) => new Counter(described));
  }

  /**
   * A value that rises and falls. `collect` sets the value on each scrape; see `onScrape` for several gauges. When a gauge is
   * requested several times, every `collect` runs.
   */
  gauge<L extends string = never>(
    name: string,
    help: string,
    labels: readonly L[] = [],
    collect?: (gauge: Gauge<L>) => Promise<void> | void,
  ): Gauge<L> {
    const gauge = this.#once('gauge', name, help, labels, (described) => new Gauge(described));
    if (collect) this.onScrape([name], () => collect(gauge));
    return gauge;
  }

  /** Runs `collect`, which sets the gauges with these names, on each scrape. When it fails, all of them are counted as unreadable. */
  onScrape(names: readonly string[], collect: () => Promise<void> | void): void {
    this.#collects.push({ names, collect });
    for (const name of names) this.#collectFailures.inc({ metric: PREFIX + name }, 0);
  }

  /** A distribution. `buckets` are upper bounds in the unit that the name ends in; default: seconds. */
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

  /** All metrics in the Prometheus text format. A `collect` that fails affects its own metrics only. */
  async text(): Promise<string> {
    await Promise.all(
      this.#collects.map(async ({ names, collect }) => {
        try {
          await collect();
        } catch {
          // A counter instead of a log entry, because a scrape happens every few seconds.
          for (const name of names) this.#collectFailures.inc({ metric: PREFIX + name });
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
    // The same shape means that the instrument was created by the same method with the same labels.
    return known.instrument as T;
  }
}
