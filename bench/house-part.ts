/** The platform under measurement: the whole house in one process, as `npm start` runs it. */
import { type HouseOptions, startHouse } from '@creditlane/local/house';
import { Closers } from '@creditlane/runtime/closers';
import { Health } from '@creditlane/runtime/health';
import { createLog } from '@creditlane/runtime/log';
import { Metrics } from '@creditlane/runtime/metrics';
import { playPart } from './child.ts';

const log = createLog('bench', { level: 'warn', pretty: true });
const closers = new Closers();
let house: Awaited<ReturnType<typeof startHouse>> | undefined;

const functions = {
  async start(options: HouseOptions): Promise<string> {
    const metrics = new Metrics({ processFigures: true });
    house = await startHouse(options, { log, closers, metrics, health: new Health() });
    return house.baseUrl;
  },

  /** Resolves once every decision's webhooks are delivered. */
  async settled(_: undefined): Promise<void> {
    await house?.settled();
  },
};

export type HousePart = typeof functions;

playPart(functions, () => closers.close());
