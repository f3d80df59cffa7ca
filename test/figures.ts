/** The figures that a Prometheus server would read, of one process or several. */
export class Figures {
  readonly samples: readonly Sample[];

  constructor(text: string) {
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

  /** The names of all metrics, those of a histogram's parts among them. */
  names(): Set<string> {
    return new Set(this.samples.map(({ name }) => name));
  }
}

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const SAMPLE = /^([a-z_]\w*)(?:\{(.*)\})? ([-+\w.]+)$/;

function labelsIn(text: string): Record<string, string> {
  const pairs = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value]));
}
