/** The webhook dispatcher as a process of its own. */
import { runService } from '@creditlane/service/run-service';
import { webhookDispatcher } from './service.ts';

await runService(webhookDispatcher);
