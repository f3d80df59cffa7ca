import type { Process } from '@creditlane/runtime/run';
import { moveIn } from './home.ts';
import { startHouse } from './house.ts';
import type { Options } from './options.ts';
import { openPostgres } from './postgres.ts';
import { step } from './progress.ts';
import { releaseMemory } from './release-memory.ts';

/** Starts everything a newcomer needs in this process. Throws a `StartError` that explains. */
export function startLaptop(options: Options, process: Process): Promise<void> {
  return moveIn(options, 0, process, async (home) => {
    const databaseUrls = await openPostgres(home, process);
    const house = await step('Starting the services', () =>
      startHouse({ ...home, databaseUrls }, process),
    );
    releaseMemory();
    return house;
  });
}
