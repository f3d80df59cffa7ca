// @ts-check
// Loaded into a service's process together with --expose-gc: SIGUSR2 collects the garbage, so that the
// memory that remains can be measured from outside.
process.on('SIGUSR2', () => globalThis.gc?.());
