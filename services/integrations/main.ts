/** The integrations service as a process of its own, or a command of its operators. */
import { runService } from '@creditlane/service/run-service';
import { runServiceCommand } from '@creditlane/service/service-command';
import { integrations } from './service.ts';

if (!(await runServiceCommand(integrations))) await runService(integrations);
