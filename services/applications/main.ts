/** The applications service as a process of its own, or a command of its operators. */
import { runService } from '@creditlane/service/run-service';
import { runServiceCommand } from '@creditlane/service/service-command';
import { applications } from './service.ts';

if (!(await runServiceCommand(applications))) await runService(applications);
