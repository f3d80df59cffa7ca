/** The credit-file service as a process of its own, or a command of its operators. */
import { runService } from '@creditlane/service/run-service';
import { COMMANDS } from './commands.ts';
import { creditFile } from './service.ts';

await runService(creditFile, COMMANDS);
