/** How long and how hard each measurement loads the system. */
export interface Plan {
  applications: number;
  /** Before anything is measured. */
  warmUp: { exchanges: number; maxMs: number };
  /** Before each measurement. */
  warmUpMs: number;
  measureMs: number;
  /** Of the loads at a fixed rate. */
  openMs: number;
  connections: readonly number[];
  writers: readonly number[];
  deliveries: readonly number[];
  backlog: number;
}

export const FULL: Plan = {
  applications: 20_000,
  warmUp: { exchanges: 20_000, maxMs: 20_000 },
  warmUpMs: 1_000,
  measureMs: 5_000,
  openMs: 12_000,
  connections: [8, 16, 32],
  writers: [16, 32, 64],
  deliveries: [32, 64, 128, 256],
  backlog: 30_000,
};

export const QUICK: Plan = {
  applications: 10_000,
  warmUp: { exchanges: 8_000, maxMs: 6_000 },
  warmUpMs: 500,
  measureMs: 2_000,
  openMs: 4_000,
  connections: [16],
  writers: [32],
  deliveries: [128],
  backlog: 5_000,
};
