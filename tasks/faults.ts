// `npm run faults`: the fault runs of `npm test` in their long form, one after the other; with
// arguments, only those that these choose.
process.env.FAULTS_FORM = 'long';
process.argv.splice(2, 0, 'test/faults', '--no-file-parallelism');
await import('./test.ts');
