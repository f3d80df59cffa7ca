/** How long and how hard the fault runs are: short in `npm test -- test/faults` and in CI, long in `npm run faults`. */
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
  /**
   * The longest pause before a write is repeated, without its random part: times that count from the end of a write are uncertain
   * by twice as much.
   */
  maxPauseMs: number;
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
  /** The longest time between an accepted write and its webhook after a crash, for a platform that starts at once. */
  webhooksWithinMs: number;
  /** How many times the platform's first start a recovery may take on top: the promises are judged in the long profile. */
  startsPerRecovery: number;
}

/** How long writes may be refused after a crash, in both profiles, by a platform that starts at once. */
const WRITES_WITHIN_MS = 10_000;

const SHORT: RunProfile = {
  // At 40 decisions a second, a machine with half a processor was overloaded for minutes.
  perSecond: 20,
  loadMs: 5_000,
  applications: 20,
  requestTimeoutMs: 4_000,
  // Longer than a restart takes where each process has a twelfth of a processor.
  giveUpAfterMs: 240_000,
  maxPauseMs: 3_000,
  settleWithinMs: 120_000,
  testTimeoutMs: 600_000,
  processStopMs: 12_000,
  receiverOutageMs: 2_500,
  kafkaOutageMs: 4_000,
  rebalances: 2,
  webhooksWithinMs: 30_000,
  // On a busy machine a start alone has taken 42 s.
  startsPerRecovery: 2,
};

const LONG: RunProfile = {
  perSecond: 200,
  loadMs: 60_000,
  applications: 200,
  requestTimeoutMs: 4_000,
  giveUpAfterMs: 60_000,
  maxPauseMs: 300,
  settleWithinMs: 300_000,
  testTimeoutMs: 900_000,
  processStopMs: 30_000,
  receiverOutageMs: 4_000,
  kafkaOutageMs: 20_000,
  rebalances: 8,
  webhooksWithinMs: 10_000,
  startsPerRecovery: 0,
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

/** How long, at most, writes are refused and a webhook is late after a crash, when the platform's first start took `startMs`. */
export function recoveryLimits(startMs: number): { writesMs: number; webhooksMs: number } {
  const { webhooksWithinMs, startsPerRecovery } = PROFILE;
  const startsMs = startsPerRecovery * startMs;
  return { writesMs: WRITES_WITHIN_MS + startsMs, webhooksMs: webhooksWithinMs + startsMs };
}
