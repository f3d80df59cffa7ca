import { findFreePorts, PortUnavailableError } from '@creditlane/supervision/free-ports';
import { StartError } from './start-error.ts';

/** The ports of the API, of health and metrics, of the webhook inbox, and of further services. */
export interface Ports {
  api: number;
  ops: number;
  inbox: number;
  services: number[];
}

/**
 * Chooses the consecutive ports that begin at `first`, or any free ones for 0: three, and `more` for
 * services. Called before anything else of the installation is changed. Throws `StartError` when a
 * port is in use.
 */
export async function choosePorts(first: number, host: string, more = 0): Promise<Ports> {
  try {
    const [api = 0, ops = 0, inbox = 0, ...services] = await findFreePorts(3 + more, {
      host,
      first,
    });
    return { api, ops, inbox, services };
  } catch (error) {
    if (!(error instanceof PortUnavailableError)) throw error;
    throw new StartError(`${error.message} Choose another with --port.`);
  }
}
