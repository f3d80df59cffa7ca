/** The integrations service as a process of its own. */
import { runService } from '@creditlane/service/run-service';
import { integrations } from './service.ts';

await runService(integrations);
