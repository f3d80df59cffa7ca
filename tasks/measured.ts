// `npm run test:measured`: the tests that compare CPU times, latencies or memory within one run, each figure printed with its
// limit. Further arguments are those of `npm test`. Their databases are in memory, so that no figure depends on a disk.
import { keepTemporaryFilesInMemory } from './temporary-files.ts';

keepTemporaryFilesInMemory();
process.argv.splice(2, 0, '--config', 'test/measured/vitest.config.ts');
await import('./test.ts');
