/** The applications service as a process of its own, or a command of its operators. */
import { OUTBOX_COMMANDS } from '@creditlane/messaging/scaling/outbox-commands';
import { runService } from '@creditlane/service/run-service';
import { runServiceCommand } from '@creditlane/service/service-command';
import { rewrapKeys } from './rewrap-keys.ts';
import { applications } from './service.ts';

const COMMANDS = { ...OUTBOX_COMMANDS, 'rewrap-keys': { options: {}, run: rewrapKeys } };

if (!(await runServiceCommand(applications, COMMANDS))) await runService(applications);
