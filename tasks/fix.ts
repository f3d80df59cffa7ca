// `npm run fix`: formats everything and applies the lint fixes that cannot change behaviour.
import { runTool } from './checks.ts';

const source = await runTool('biome', ['check', '--write', '.']);
const contracts = await runTool('buf', ['format', '--write'], 'proto');
process.exitCode = source && contracts ? 0 : 1;
