// `npm run test:image`: the image's root file system, made without a container engine, and every service started from
// it. Further arguments are those of `npm test`.
if (process.platform === 'linux' && process.getuid?.() === 0) {
  process.argv.splice(2, 0, '--config', 'test/image/vitest.config.ts');
  await import('./test.ts');
} else {
  process.stdout.write(
    'NOT TESTED: the image is tested as root on Linux, which makes the mounts.\n',
  );
  process.exitCode = 1;
}
