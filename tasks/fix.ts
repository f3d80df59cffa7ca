// `npm run fix`: formats all files and applies the safe lint fixes.
import { runTool } from './checks.ts';

const source = await runTool('biome', ['check', '--write', '.']);
const contracts = await runTool('buf', ['format', '--write'], 'proto');
process.exitCode = source && contracts ? 0 : 1;
