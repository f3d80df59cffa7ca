/** The webhook dispatcher as a process of its own, or a command of its operators. */
import { DEAD_LETTER_COMMANDS } from '@creditlane/messaging/dead-letters/commands';
import { runService } from '@creditlane/service/run-service';
import { DEAD_DELIVERY_COMMANDS } from './dead-deliveries/commands.ts';
import { webhookDispatcher } from './service.ts';

const COMMANDS = { ...DEAD_LETTER_COMMANDS, ...DEAD_DELIVERY_COMMANDS };

await runService(webhookDispatcher, COMMANDS);
