// The ports of an installation.
import { findFreePorts, PortUnavailableError } from '@creditlane/supervision/free-ports';
import { StartError } from './start-error.ts';

/** The ports of the API, of health and metrics, of the webhook inbox, of the bureau simulator, and of further services. */
export interface Ports {
  api: number;
  ops: number;
  inbox: number;
  simulator: number;
  services: number[];
}

export interface PortRequest {
  /** The first of consecutive ports; 0 for any free ones. */
  first: number;
  host: string;
  /** How many ports the services need. */
  services?: number;
  /** Taken for the webhook inbox when `first` is 0 and the port is free: destinations may name its URL. */
  formerInbox?: number | undefined;
}

/**
 * Chooses the ports of an installation, before its data are changed. Throws `StartError` when a port is
 * in use.
 */
export async function choosePorts(request: PortRequest): Promise<Ports> {
  const { first, host, services: serviceCount = 0, formerInbox } = request;
  try {
    const found = await findFreePorts(4 + serviceCount, { host, first });
    const [api = 0, ops = 0, inbox = 0, simulator = 0, ...services] = found;
    const keepsInbox =
      first === 0 &&
      formerInbox !== undefined &&
      !found.includes(formerInbox) &&
      (await isFree(formerInbox, host));
    return { api, ops, inbox: keepsInbox ? formerInbox : inbox, simulator, services };
  } catch (error) {
    if (!(error instanceof PortUnavailableError)) throw error;
    throw new StartError(`${error.message} Choose another with --port.`);
  }
}

async function isFree(port: number, host: string): Promise<boolean> {
  try {
    await findFreePorts(1, { host, first: port });
    return true;
  } catch (error) {
    if (error instanceof PortUnavailableError) return false;
    throw error;
  }
}
