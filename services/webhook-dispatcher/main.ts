/** The webhook dispatcher as a process of its own, or a command of its operators. */
import { runService } from '@creditlane/service/run-service';
import { runServiceCommand } from '@creditlane/service/service-command';
import { COMMANDS } from './dead-deliveries/commands.ts';
import { webhookDispatcher } from './service.ts';

if (!(await runServiceCommand(webhookDispatcher, COMMANDS))) await runService(webhookDispatcher);
