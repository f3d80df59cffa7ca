// `npm run generate`: generates proto/gen from the contracts in proto/creditlane.
import { runTool } from './checks.ts';

process.exitCode = (await runTool('buf', ['generate'], 'proto')) ? 0 : 1;
