/** How long and how hard each measurement loads the system. */
export interface Plan {
  /** To write decisions on, and events for the relay and the dispatcher alone. */
  applications: number;
  /** Before anything is measured. */
  warmUp: { callers: number; exchanges: number; maxMs: number };
  /** Before each measurement. */
  warmUpMs: number;
  measureMs: number;
  /** Of the loads at a fixed rate. */
  openMs: number;
  connections: readonly number[];
  writers: readonly number[];
  deliveries: readonly number[];
  /** Where one strength is enough. */
  usual: { writers: number; deliveries: number };
  backlog: number;
  history: HistoryPlan;
  soak: { periods: number; periodMs: number; samplesEach: number };
}

export interface HistoryPlan {
  /** In the tables of the platform that has a history, and among how many applications. */
  decisions: number;
  applications: number;
  /** How often the two platforms take turns, twice each. */
  rounds: number;
}

export const FULL: Plan = {
  applications: 40_000,
  warmUp: { callers: 64, exchanges: 60_000, maxMs: 45_000 },
  warmUpMs: 1_000,
  measureMs: 5_000,
  openMs: 12_000,
  connections: [8, 16, 32],
  writers: [16, 32, 64, 128, 256],
  deliveries: [32, 64, 128, 256],
  usual: { writers: 32, deliveries: 128 },
  backlog: 30_000,
  history: { decisions: 1_000_000, applications: 200_000, rounds: 2 },
  soak: { periods: 10, periodMs: 60_000, samplesEach: 4 },
};

export const QUICK: Plan = {
  ...FULL,
  applications: 10_000,
  warmUp: { callers: 64, exchanges: 8_000, maxMs: 6_000 },
  warmUpMs: 500,
  measureMs: 2_000,
  openMs: 4_000,
  connections: [16],
  writers: [64],
  deliveries: [128],
  backlog: 5_000,
  history: { decisions: 100_000, applications: 20_000, rounds: 1 },
  soak: { periods: 8, periodMs: 15_000, samplesEach: 3 },
};

/** Shows that everything is measured, and nothing of how fast it is. */
export const SMOKE: Plan = {
  ...QUICK,
  applications: 2_000,
  warmUp: { callers: 8, exchanges: 200, maxMs: 1_000 },
  warmUpMs: 100,
  measureMs: 800,
  openMs: 1_000,
  connections: [4],
  writers: [8],
  deliveries: [8],
  usual: { writers: 8, deliveries: 8 },
  backlog: 200,
  history: { decisions: 2_000, applications: 2_000, rounds: 1 },
  soak: { periods: 4, periodMs: 500, samplesEach: 1 },
};
