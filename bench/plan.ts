/** Decisions per second, on this many applications one after the other. */
export interface RateStage {
  perSecond: number;
  applications: number;
}

/** The durations and sizes of all measurements. */
export interface Plan {
  /** Applications per writer. */
  applications: number;
  /** The load before the first measurement. */
  warmUp: { callers: number; operations: number; maxMs: number };
  /** The part of each load that is not measured. */
  warmUpMs: number;
  measureMs: number;
  /** The measured duration of loads at a fixed rate. */
  fixedRateMs: number;
  /** The fixed rates at which webhooks are timed. */
  rates: readonly RateStage[];
  /** After the last load, so that what follows it, such as the comparison of its events, is over. */
  idleAfterMs: number;
  /** How long the platform is measured without any request. */
  idleMs: number;
  /** Levels of PostgreSQL alone, of writes and of deliveries. */
  connections: readonly number[];
  writers: readonly number[];
  deliveries: readonly number[];
  /** Deliveries that are due at the same time. */
  backlog: number;
  /** `level`: operations under way while the highest rate is looked for. */
  soak: { level: number; periods: number; periodMs: number; samplesPerPeriod: number };
}

/** Common rates on common numbers of applications, whose webhooks are sent in order. */
const RATES: readonly RateStage[] = [
  { perSecond: 50, applications: 256 },
  { perSecond: 500, applications: 256 },
  { perSecond: 700, applications: 256 },
  { perSecond: 1_200, applications: 256 },
  { perSecond: 1_200, applications: 64 },
];

export const FULL: Plan = {
  applications: 40_000,
  warmUp: { callers: 64, operations: 60_000, maxMs: 45_000 },
  warmUpMs: 1_000,
  measureMs: 5_000,
  fixedRateMs: 12_000,
  rates: RATES,
  idleAfterMs: 25_000,
  idleMs: 20_000,
  connections: [8, 16, 32],
  writers: [16, 32, 64, 128, 256],
  deliveries: [32, 64, 128, 256],
  backlog: 30_000,
  soak: { level: 128, periods: 10, periodMs: 60_000, samplesPerPeriod: 4 },
};

export const QUICK: Plan = {
  ...FULL,
  applications: 10_000,
  warmUp: { callers: 64, operations: 8_000, maxMs: 6_000 },
  warmUpMs: 500,
  measureMs: 2_000,
  fixedRateMs: 4_000,
  idleAfterMs: 15_000,
  idleMs: 10_000,
  connections: [16],
  writers: [64],
  deliveries: [128],
  backlog: 5_000,
  soak: { level: 128, periods: 8, periodMs: 15_000, samplesPerPeriod: 3 },
};

/** Only shows that every measurement works. */
export const SMOKE: Plan = {
  ...QUICK,
  applications: 2_000,
  warmUp: { callers: 8, operations: 200, maxMs: 1_000 },
  warmUpMs: 100,
  measureMs: 800,
  fixedRateMs: 1_000,
  rates: [{ perSecond: 4, applications: 4 }],
  idleAfterMs: 0,
  idleMs: 500,
  connections: [4],
  writers: [8],
  deliveries: [8],
  backlog: 200,
  soak: { level: 8, periods: 4, periodMs: 500, samplesPerPeriod: 1 },
};
