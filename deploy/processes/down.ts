// `npm run down`: stops the processes that `npm run up` started on a data directory.
import { resolve } from 'node:path';
import { runCommand } from '@creditlane/local/command';
import { stopLeftoverProcesses } from '@creditlane/local/installation';
import { findHolder } from '@creditlane/local/instance-lock';
import { StartError } from '@creditlane/local/start-error';
import { exitsWithin, sendSignal } from '@creditlane/supervision/pid-file';
import { CLOSE_WITHIN_MS, DOWN_HELP, readDownOptions } from './options.ts';

/** Longer than a shutdown may take: the limit of PostgreSQL's closer comes on top of `CLOSE_WITHIN_MS`. */
const STOP_WITHIN_MS = CLOSE_WITHIN_MS + 30_000;

await runCommand(DOWN_HELP, readDownOptions, async ({ dataDir }) => {
  const dir = resolve(dataDir);
  const holder = await findHolder(dir);
  if (holder === undefined) {
    const killed = await stopLeftoverProcesses(dir);
    return print(
      killed.length === 0
        ? `Nothing runs on ${dir}. Name another data directory with --data-dir.`
        : `Stopped what a killed launcher had left running: ${killed.join(', ')}.`,
    );
  }
  await sendSignal(holder, 'SIGTERM');
  const hasStopped = await exitsWithin(holder, STOP_WITHIN_MS);
  if (!hasStopped) {
    await sendSignal(holder, 'SIGKILL');
    await exitsWithin(holder, STOP_WITHIN_MS);
  }
  // The launcher leaves some of its processes running, too, when a second Ctrl-C has ended it.
  await stopLeftoverProcesses(dir).catch((error: unknown) => {
    // Another process that starts on the directory by now kills them itself.
    if (!(error instanceof StartError)) throw error;
  });
  print(
    hasStopped ? 'Creditlane has stopped.' : 'Creditlane did not stop by itself and was killed.',
  );
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
