/** How long and how hard the fault runs are: short in `npm test`, long in `npm run faults`. */
export interface RunProfile {
  /** Decisions recorded per second. */
  perSecond: number;
  /** The least duration of the load; the load goes on until the fault is over. */
  loadMs: number;
  applications: number;
  /** How long a request waits for its answer. */
  requestTimeoutMs: number;
  /** How long the platform may take to finish its remaining work after the load. */
  settleWithinMs: number;
  testTimeoutMs: number;
  /** How long a process is stopped: longer than its leases, in the long profile also its sessions. */
  processStopMs: number;
  /** How long the receiver fails: in the short profile less than the delay of the first retry. */
  receiverOutageMs: number;
  kafkaOutageMs: number;
  /** How many times a member of the consumer group is restarted. */
  rebalances: number;
  /** The longest time between an accepted write and its webhook after a crash. */
  webhooksWithinMs: number;
}

/** How long writes may be refused after a crash, in both profiles. */
export const WRITES_WITHIN_MS = 10_000;

const SHORT: RunProfile = {
  // Three test files share the processors, which may be slow: with 40, half a processor was overloaded for minutes.
  perSecond: 20,
  loadMs: 5_000,
  applications: 20,
  requestTimeoutMs: 4_000,
  settleWithinMs: 120_000,
  testTimeoutMs: 300_000,
  processStopMs: 12_000,
  receiverOutageMs: 2_500,
  kafkaOutageMs: 4_000,
  rebalances: 2,
  // Three times the promise, because three test files share two processors: the promise is judged in the long profile.
  webhooksWithinMs: 30_000,
};

const LONG: RunProfile = {
  perSecond: 200,
  loadMs: 60_000,
  applications: 200,
  requestTimeoutMs: 4_000,
  settleWithinMs: 300_000,
  testTimeoutMs: 900_000,
  processStopMs: 30_000,
  receiverOutageMs: 4_000,
  kafkaOutageMs: 20_000,
  rebalances: 8,
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
