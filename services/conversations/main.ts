/** The conversations service as a process of its own, or a command of its operators. */
import { rewrapKeysCommand } from '@creditlane/service/rewrap-keys-command';
import { runService } from '@creditlane/service/run-service';
import { conversations } from './service.ts';
import { sealedTables } from './store/sealed-tables.ts';

const COMMANDS = { 'rewrap-keys': rewrapKeysCommand(sealedTables) };

await runService(conversations, COMMANDS);
