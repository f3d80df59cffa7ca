/** The applications service as a process of its own. */
import { runService } from '@creditlane/service/run-service';
import { applications } from './service.ts';

await runService(applications);
