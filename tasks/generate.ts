// `npm run generate`: the code of the contracts, from proto/creditlane into proto/gen.
import { runTool } from './checks.ts';

process.exitCode = (await runTool('buf', ['generate'], 'proto')) ? 0 : 1;
