/** The conversations service as a process of its own. */
import { runService } from '@creditlane/service/run-service';
import { conversations } from './service.ts';

await runService(conversations);
