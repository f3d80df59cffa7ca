// Runs an installation in one process.
import type { Process } from '@creditlane/runtime/run';
import { type InstallationOptions, runInstallation } from './installation.ts';
import { startPlatform } from './platform.ts';
import { openPostgres } from './postgres.ts';
import { step } from './progress.ts';
import { releaseMemory } from './release-memory.ts';

/** Starts PostgreSQL, and the platform in this process. Throws the errors of `runInstallation`. */
export function startOneProcess(options: InstallationOptions, process: Process): Promise<void> {
  return runInstallation(options, 0, process, async (installation) => {
    const databaseUrls = await openPostgres(installation, process);
    const platform = await step('Starting the services', () =>
      startPlatform({ ...installation, databaseUrls }, process),
    );
    releaseMemory();
    return platform;
  });
}
