/** The integrations service as a process of its own, or a command of its operators. */
import { outboxCommands } from '@creditlane/messaging/outbox-commands';
import { rewrapKeysCommand } from '@creditlane/service/rewrap-keys-command';
import { runService } from '@creditlane/service/run-service';
import { answersByAge } from './migrations/0010-answers-by-age.ts';
import { integrations } from './service.ts';
import { sealedTables } from './store/sealed-tables.ts';

const COMMANDS = {
  ...outboxCommands(answersByAge),
  'rewrap-keys': rewrapKeysCommand(sealedTables),
};

await runService(integrations, COMMANDS);
