/** The applications service as a process of its own, or a command of its operators. */
import { outboxCommands } from '@creditlane/messaging/outbox-commands';
import { rewrapKeysCommand } from '@creditlane/service/rewrap-keys-command';
import { runService } from '@creditlane/service/run-service';
import { answersByAge } from './migrations/0011-answers-by-age.ts';
import { applications } from './service.ts';
import { sealedTables } from './store/sealed-tables.ts';
import { useDataKeys } from './use-data-keys.ts';

const COMMANDS = {
  ...outboxCommands(answersByAge),
  'rewrap-keys': rewrapKeysCommand(sealedTables),
  'use-data-keys': { options: {}, run: useDataKeys },
};

await runService(applications, COMMANDS);
