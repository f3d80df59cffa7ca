/** The webhook dispatcher as a process of its own, or a command of its operators. */
import { runService } from '@creditlane/service/run-service';
import { COMMANDS } from './dead-deliveries/commands.ts';
import { webhookDispatcher } from './service.ts';

await runService(webhookDispatcher, COMMANDS);
