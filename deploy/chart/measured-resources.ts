/**
 * What a process of each service used, as `npm run bench -- resources` prints it, and what its pod asks for. The
 * measurement fails when a service uses more than its pod asks for.
 */

export interface MeasuredResources {
  /** The most resident memory from the start to the end of the loads. */
  memoryMib: number;
  /** Thousandths of a core under the load that needs most of it. */
  milliCores: number;
  /** Of CPU, from the start until the platform is ready, with the first requests of the demo data. */
  startSeconds: number;
}

/** What one replica of each service carries, in a second; two loads, one after the other. */
export const LOADS = {
  decisions: {
    /** Each recorded through the gateway, with one webhook delivered. */
    decisions: 500,
  },
  others: {
    /** Reads of a latest decision. */
    reads: 100,
    /** Comments of a creditor. */
    comments: 20,
    /** Applications created and submitted to one creditor. */
    applications: 10,
    /** Pulls of files of 200 trades from Equifax. */
    pulls: 2,
    /** PDFs of such files. */
    documents: 1,
  },
} as const;

export interface Resources {
  requests: { cpu: string; memory: string };
  limits: { memory: string };
}

/** The higher figures of two runs. A service that is not among them has not been measured. */
export const MEASURED: Readonly<Record<string, MeasuredResources>> = {
  applications: { memoryMib: 287, milliCores: 162, startSeconds: 1.9 },
  integrations: { memoryMib: 305, milliCores: 96, startSeconds: 1.7 },
  decisions: { memoryMib: 419, milliCores: 370, startSeconds: 1.6 },
  conversations: { memoryMib: 234, milliCores: 96, startSeconds: 1.5 },
  'credit-file': { memoryMib: 487, milliCores: 465, startSeconds: 1.7 },
  'webhook-dispatcher': { memoryMib: 431, milliCores: 306, startSeconds: 2 },
  gateway: { memoryMib: 484, milliCores: 389, startSeconds: 2.3 },
};

/** For a service that nobody has measured yet. */
const UNMEASURED: Resources = {
  requests: { cpu: '100m', memory: '192Mi' },
  limits: { memory: '512Mi' },
};
/** Above what was measured, for larger requests and for the growth of heaps between two collections. */
const MARGIN = 1.25;
const MEMORY_STEP_MIB = 32;
const CPU_STEP_MILLI_CORES = 25;
/** A backlog of events or a burst of large answers fills more memory than a steady load does. */
const LIMIT_TIMES_REQUEST = 2;

/** The resources of a service's pod. */
export function resourcesOf(service: string): Resources {
  const measured = MEASURED[service];
  if (measured === undefined) return UNMEASURED;
  const memory = roundUp(measured.memoryMib * MARGIN, MEMORY_STEP_MIB);
  const cpu = roundUp(measured.milliCores * MARGIN, CPU_STEP_MILLI_CORES);
  return {
    requests: { cpu: `${cpu}m`, memory: `${memory}Mi` },
    limits: { memory: `${memory * LIMIT_TIMES_REQUEST}Mi` },
  };
}

/** What one pod of each service requests together. */
export function sumOfRequests(services: readonly string[]): { cores: number; gib: number } {
  const sumOf = (resource: 'cpu' | 'memory') =>
    services.reduce((sum, name) => {
      return sum + Number.parseInt(resourcesOf(name).requests[resource], 10);
    }, 0);
  return { cores: sumOf('cpu') / 1_000, gib: sumOf('memory') / 1_024 };
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
