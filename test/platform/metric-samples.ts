/** The samples of one or several /metrics pages in Prometheus' text format. */
export class MetricSamples {
  readonly samples: readonly Sample[];
  /** The names of all metrics, with or without samples, and of each histogram's parts. */
  readonly names: ReadonlySet<string>;

  constructor(text: string) {
    this.names = parseNames(text);
    this.samples = text.split('\n').flatMap((line) => {
      const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
      return name === undefined
        ? []
        : [{ name, labels: parseLabels(labels), value: Number(value) }];
    });
  }

  /** The sum over all samples of `creditlane_<name>` that have these labels. Throws when there is no such metric. */
  sum(name: string, labels: Record<string, string> = {}): number {
    if (!this.names.has(`creditlane_${name}`)) throw new Error(`no metric creditlane_${name}`);
    return this.#find(name, labels).reduce((sum, { value }) => sum + value, 0);
  }

  /** As `sum`. Throws also when no sample has these labels: a gauge shows its 0, which a counter need not. */
  gauge(name: string, labels: Record<string, string> = {}): number {
    if (this.#find(name, labels).length > 0) return this.sum(name, labels);
    throw new Error(`creditlane_${name} has no sample with ${JSON.stringify(labels)}`);
  }

  #find(name: string, labels: Record<string, string>): Sample[] {
    const wanted = Object.entries(labels);
    return this.samples
      .filter((sample) => sample.name === `creditlane_${name}`)
      .filter((sample) => wanted.every(([label, value]) => sample.labels[label] === value));
  }

  /** Whether a sample of the metric fits the matchers of a PromQL selector; `name` is the whole name. */
  has(name: string, matchers: string): boolean {
    const wanted = [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(
      ([, label = '', operator = '', value = '']) => {
        const pattern = new RegExp(
          `^(?:${operator.includes('~') ? value : RegExp.escape(value)})$`,
        );
        return { label, pattern, matches: !operator.includes('!') };
      },
    );
    return this.samples.some(
      (sample) =>
        sample.name === name &&
        wanted.every((it) => it.pattern.test(sample.labels[it.label] ?? '') === it.matches),
    );
  }

  /** The labels of all samples of a metric; `name` is the whole name. */
  labelsOf(name: string): Set<string> {
    const samples = this.samples.filter((sample) => sample.name === name);
    return new Set(samples.flatMap(({ labels }) => Object.keys(labels)));
  }
}

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const HISTOGRAM_PARTS = ['_bucket', '_sum', '_count'];
const SAMPLE = /^([a-z_]\w*)(?:\{(.*)\})? ([-+\w.]+)$/;

function parseNames(text: string): Set<string> {
  const types = text.matchAll(/^# TYPE (\w+) (\w+)$/gm);
  return new Set(
    [...types].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [name, ...HISTOGRAM_PARTS.map((part) => name + part)] : [name],
    ),
  );
}

function parseLabels(text: string): Record<string, string> {
  const pairs = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value]));
}
