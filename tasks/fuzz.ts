// `npm run fuzz`: the tests that generate requests, with thousands for each operation. Arguments select tests
// as in `npm test`.
process.env.GENERATED_REQUESTS ??= '2000';
process.argv.splice(2, 0, 'generated-requests', 'documented-examples', '--no-file-parallelism');
await import('./test.ts');
