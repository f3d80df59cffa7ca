/** The decisions service as a process of its own. */
import { runService } from '@creditlane/service/run-service';
import { decisions } from './service.ts';

await runService(decisions);
