import { type InstallationOptions, runInstallation } from '@creditlane/local/installation';
import { openPostgres } from '@creditlane/local/postgres';
import { step } from '@creditlane/local/progress';
import type { Env } from '@creditlane/runtime/env';
import type { Process } from '@creditlane/runtime/run';
import { startFleet } from './fleet.ts';
import { portsNeeded } from './instances.ts';
import { chosen, openKafka } from './kafka.ts';
import type { UpOptions } from './options.ts';

export interface ProcessesConfig extends UpOptions, InstallationOptions {
  environment: Env;
}

/** What a person may say to all services at once. */
const FOR_ALL = /^(LOG_LEVEL$|OTEL_|NODE_)/;

/** Starts Kafka, PostgreSQL and every service. Throws a `StartError` that explains. */
export function startProcesses(config: ProcessesConfig, process: Process): Promise<void> {
  return runInstallation(
    config,
    portsNeeded(config.replicas, config.services),
    process,
    async (installation) => {
      const kafka = await openKafka(installation, config, process);
      const databaseUrls = await openPostgres(installation, process);
      const everywhere = chosen(config.environment, FOR_ALL);
      const write = (text: string) => void globalThis.process.stdout.write(text);
      return step('Starting the services', () =>
        startFleet({ ...config, ...installation, kafka, databaseUrls, everywhere, write }, process),
      );
    },
  );
}
