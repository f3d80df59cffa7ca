// Runs an installation with Kafka, PostgreSQL and a process for each service.
import { type InstallationOptions, runInstallation } from '@creditlane/local/installation';
import { openPostgres } from '@creditlane/local/postgres';
import { step } from '@creditlane/local/progress';
import type { Env } from '@creditlane/runtime/env';
import type { Process } from '@creditlane/runtime/run';
import { portsNeeded } from './instances.ts';
import { openKafka, pickVariables } from './kafka.ts';
import type { UpOptions } from './options.ts';
import { startProcessPlatform } from './process-platform.ts';

export interface ProcessesConfig extends UpOptions, InstallationOptions {
  environment: Env;
}

/** The variables of the launcher's environment that all services get. */
const COMMON = /^(LOG_LEVEL$|OTEL_|NODE_)/;

/** Starts Kafka, PostgreSQL and every service. Throws the errors of `runInstallation`. */
export function startProcesses(config: ProcessesConfig, process: Process): Promise<void> {
  return runInstallation(
    config,
    portsNeeded(config.replicas, config.services),
    process,
    async (installation) => {
      const kafka = await openKafka(installation, config, process);
      const databaseUrls = await openPostgres(installation, process);
      const commonSettings = pickVariables(config.environment, COMMON);
      const write = (text: string) => void globalThis.process.stdout.write(text);
      return step('Starting the services', () =>
        startProcessPlatform(
          { ...config, ...installation, kafka, databaseUrls, commonSettings, write },
          process,
        ),
      );
    },
  );
}
