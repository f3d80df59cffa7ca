/** Decisions and webhooks of the platform in one process, beside what its PostgreSQL does alone. */
import { measureThroughput } from '../load/throughput.ts';

export default measureThroughput('one process');
