/** The decisions service as a process of its own, or a command of its operators. */
import { DEAD_LETTER_COMMANDS } from '@creditlane/messaging/dead-letters/commands';
import { outboxCommands } from '@creditlane/messaging/outbox-commands';
import { runService } from '@creditlane/service/run-service';
import { answersByAge } from './migrations/0008-answers-by-age.ts';
import { decisions } from './service.ts';

const COMMANDS = { ...DEAD_LETTER_COMMANDS, ...outboxCommands(answersByAge) };

await runService(decisions, COMMANDS);
