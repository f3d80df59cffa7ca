/** How long and how hard the runs are: a short form for every day, a long one by `npm run faults`. */
export interface Form {
  perSecond: number;
  /** At least; the load goes on until the fault is over. */
  forMs: number;
  applications: number;
  /** How long the work that the fault left may take. */
  quietWithinMs: number;
  timeoutMs: number;
  /** How long a process stands still: beyond its leases, and in the long form its sessions too. */
  stopMs: number;
  /** How long the receiver is away: within the pause before the second attempt in the short form. */
  awayMs: number;
  /** How long Kafka is away. */
  kafkaAwayMs: number;
  /** How often the members of a group change. */
  rebalances: number;
  /** How long a receiver may wait for a webhook after a crash. */
  backWithinMs: number;
}

/** How long writes may be refused after a crash, in either form. */
export const WRITES_BACK_WITHIN_MS = 10_000;

const SHORT: Form = {
  perSecond: 60,
  forMs: 6_000,
  applications: 20,
  quietWithinMs: 45_000,
  timeoutMs: 150_000,
  stopMs: 12_000,
  awayMs: 2_500,
  kafkaAwayMs: 4_000,
  rebalances: 2,
  // Twice what is promised, as other tests run beside it.
  backWithinMs: 20_000,
};

const LONG: Form = {
  perSecond: 200,
  forMs: 60_000,
  applications: 200,
  quietWithinMs: 300_000,
  timeoutMs: 900_000,
  stopMs: 30_000,
  awayMs: 4_000,
  kafkaAwayMs: 20_000,
  rebalances: 8,
  backWithinMs: 10_000,
};

export const isLong = process.env.FAULTS_FORM === 'long';
const chosen = isLong ? LONG : SHORT;

/** A machine that is slow, or busy with other things, takes a lower rate: beyond its own nothing is proved. */
export const FORM: Form = {
  ...chosen,
  perSecond: Number(process.env.FAULTS_PER_SECOND ?? chosen.perSecond),
};
