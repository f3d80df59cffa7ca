/** The conversations service as a process of its own, or a command of its operators. */
import { runService } from '@creditlane/service/run-service';
import { runServiceCommand } from '@creditlane/service/service-command';
import { conversations } from './service.ts';

if (!(await runServiceCommand(conversations))) await runService(conversations);
