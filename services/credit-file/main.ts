/** The credit-file service as a process of its own. */
import { runService } from '@creditlane/service/run-service';
import { creditFile } from './service.ts';

await runService(creditFile);
