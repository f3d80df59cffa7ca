/** The decisions service as a process of its own, or a command of its operators. */
import { DEAD_LETTER_COMMANDS } from '@creditlane/messaging/dead-letters/commands';
import { runService } from '@creditlane/service/run-service';
import { runServiceCommand } from '@creditlane/service/service-command';
import { decisions } from './service.ts';

if (!(await runServiceCommand(decisions, DEAD_LETTER_COMMANDS))) await runService(decisions);
