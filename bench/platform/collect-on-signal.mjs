// @ts-check
// Loaded into a service's process, beside --expose-gc: SIGUSR2 then collects its garbage, so that
// what is left can be measured from outside.
process.on('SIGUSR2', () => globalThis.gc?.());
