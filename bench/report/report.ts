/** What a reader needs to judge the figures: the machine, the method, and the targets beside them. */

import type { Soak } from '../measurements/soak.ts';
import type { Burden } from '../measurements/table-size.ts';
import type { Results } from '../measurements/throughput.ts';
import { SHAPES, type Shape } from '../platform/run-mode.ts';
import { type Machine, machineLine } from './machine.ts';
import { burdenOf, soakOf } from './table-size-and-soak.ts';
import { costsOf, figuresOf } from './throughput-table.ts';

/** What was measured, of what could be. */
export interface Findings {
  machine?: Machine;
  shapes: Partial<Record<Shape, Results>>;
  burden?: Burden;
  soaks: Partial<Record<Shape, Soak>>;
}

const METHOD = `Method: the platform and its PostgreSQL, in "processes" its Kafka broker too, the load generator and
the receiver share this machine; fsync on, logs as in production, no traces. The limit is the decision
write's own statement, prepared, straight through pg, in the same run. Closed loads are the best of
several strengths; loads at a fixed rate wait for nobody, timed from sending. A delivery is timed to the
first byte at a receiver that answers at once: from its request, and from the beginning of the
transaction that wrote it, by PostgreSQL's clock, as a commit tells nobody its time: its own duration is
in the figure. The backlog is a table of deliveries that are due. The relay alone publishes events that
wait in the outbox; the dispatcher alone begins when they are all in Kafka, and ends with the last
webhook; the first quarter of both is warm-up. CPU is that of services, PostgreSQL and Kafka together.
Compare ratios of one run, not figures of two.`;

const BURDEN_METHOD = `Method: two platforms, each in one process on a PostgreSQL of its own, under one load in turns: new,
old, old, new. The old one's decisions were made by SQL, with their events published and their webhooks
delivered; then both were vacuumed and analysed. It decides on the newest of its applications, each of
which it has decided on before. The share is of all its turns in all the new one's.`;

const SOAK_METHOD = `Method: half of what the platform can deliver, for as long as there are lines below; in each, the
least of what several forced collections left. The heap's growth is the slope of the second
half, when what fills up once is full. Its target is less than the smallest object would take if one
were kept for each delivery; the resident set follows with what the allocators keep.`;

/** The results as text for a terminal. */
export function reportOf({ machine, shapes, burden, soaks }: Findings): string {
  const measured = SHAPES.flatMap((shape) => {
    const results = shapes[shape];
    return results === undefined ? [] : [{ shape, results }];
  });
  const lines = machine === undefined ? [] : [machineLine(machine)];
  if (measured.length > 0) {
    lines.push('', METHOD, '', ...figuresOf(measured), '', ...measured.flatMap(costsOf));
  }
  if (burden !== undefined) lines.push('', BURDEN_METHOD, '', ...burdenOf(burden));
  for (const shape of SHAPES) {
    const soak = soaks[shape];
    if (soak !== undefined) lines.push('', SOAK_METHOD, '', ...soakOf(shape, soak));
  }
  return lines.join('\n');
}
