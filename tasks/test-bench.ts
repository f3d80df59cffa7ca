// `npm run test:bench`: every part of the benchmarks, in their shortest form. `-t 'sentence'` selects tests by their title.
process.env.BENCHMARKS = 'all';
process.argv.splice(2, 0, 'test/bench.test');
await import('./test.ts');
