/** How long and how hard the fault runs are: short in `npm test`, long in `npm run faults`. */
export interface RunProfile {
  /** Decisions recorded per second. */
  perSecond: number;
  /** The least duration of the load; the load goes on until the fault is over. */
  loadMs: number;
  applications: number;
  /** How long a request waits for its answer. */
  requestTimeoutMs: number;
  /** How long a caller repeats a write before its outcome counts as unknown. */
  giveUpAfterMs: number;
  /** How long the platform may take to finish its remaining work after the load. */
  settleWithinMs: number;
  testTimeoutMs: number;
  /** How long a process is stopped: longer than its leases of shards (3 s) and deliveries (6 s), and its session with Kafka (6 s). */
  processStopMs: number;
  /** How long the receiver fails: in the short profile less than the delay of the first retry. */
  receiverOutageMs: number;
  kafkaOutageMs: number;
  /** How many times a member of the consumer group is restarted. */
  rebalances: number;
  /** How long writes may be refused after a crash. */
  writesWithinMs: number;
  /** The longest time between an accepted write and its webhook after a crash. */
  webhooksWithinMs: number;
}

const SHORT: RunProfile = {
  // Three test files share the processors, which may be slow: at 40 decisions a second, a machine with half a processor was overloaded for minutes.
  perSecond: 20,
  loadMs: 5_000,
  applications: 20,
  requestTimeoutMs: 4_000,
  // Longer than a restart takes where each process has a twelfth of a processor.
  giveUpAfterMs: 240_000,
  settleWithinMs: 120_000,
  testTimeoutMs: 600_000,
  processStopMs: 12_000,
  receiverOutageMs: 2_500,
  kafkaOutageMs: 4_000,
  rebalances: 2,
  // Three test files share two processors, on which a start alone has taken 42 s: the promises are judged in the long profile.
  writesWithinMs: 120_000,
  webhooksWithinMs: 120_000,
};

const LONG: RunProfile = {
  perSecond: 200,
  loadMs: 60_000,
  applications: 200,
  requestTimeoutMs: 4_000,
  giveUpAfterMs: 60_000,
  settleWithinMs: 300_000,
  testTimeoutMs: 900_000,
  processStopMs: 30_000,
  receiverOutageMs: 4_000,
  kafkaOutageMs: 20_000,
  rebalances: 8,
  writesWithinMs: 10_000,
  webhooksWithinMs: 10_000,
};

export const isLongRun = process.env.FAULTS_PROFILE === 'long';
const chosen = isLongRun ? LONG : SHORT;

/**
 * The profile of this test run. FAULTS_PER_SECOND lowers the rate for a slow or busy machine: a rate
 * above what the machine can serve fails without proving anything.
 */
export const PROFILE: RunProfile = {
  ...chosen,
  perSecond: Number(process.env.FAULTS_PER_SECOND ?? chosen.perSecond),
};
