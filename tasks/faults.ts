// `npm run faults`: the fault injection tests in their long profile, one file after the other. Arguments
// select tests as in `npm test`.
process.env.FAULTS_PROFILE = 'long';
process.argv.splice(2, 0, 'test/faults', '--no-file-parallelism');
await import('./test.ts');
