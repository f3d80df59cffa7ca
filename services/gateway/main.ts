/** The gateway as a process of its own. */
import { runService } from '@creditlane/service/run-service';
import { gateway } from './service.ts';

await runService(gateway);
