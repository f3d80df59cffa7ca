/** The figures that a Prometheus server would read, of one process or several. */
export class Figures {
  readonly samples: readonly Sample[];
  /** The names of all metrics, those of a histogram's parts among them, with or without samples. */
  readonly names: ReadonlySet<string>;

  constructor(text: string) {
    this.names = namesIn(text);
    this.samples = text.split('\n').flatMap((line) => {
      const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
      return name === undefined ? [] : [{ name, labels: labelsIn(labels), value: Number(value) }];
    });
  }

  /** The sum over all samples of `creditlane_<name>` that have these labels; 0 where there are none. */
  sum(name: string, labels: Record<string, string> = {}): number {
    const wanted = Object.entries(labels);
    return this.samples
      .filter((sample) => sample.name === `creditlane_${name}`)
      .filter((sample) => wanted.every(([label, value]) => sample.labels[label] === value))
      .reduce((sum, { value }) => sum + value, 0);
  }

  /** The labels that any sample of a metric, by its whole name, has. */
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

/** Of a histogram. */
const PARTS = ['_bucket', '_sum', '_count'];
const SAMPLE = /^([a-z_]\w*)(?:\{(.*)\})? ([-+\w.]+)$/;

function namesIn(text: string): Set<string> {
  const types = text.matchAll(/^# TYPE (\w+) (\w+)$/gm);
  return new Set(
    [...types].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [name, ...PARTS.map((part) => name + part)] : [name],
    ),
  );
}

function labelsIn(text: string): Record<string, string> {
  const pairs = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value]));
}
