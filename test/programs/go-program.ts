import { run } from './run.ts';

const BUILD_WITHIN_MS = 1_500_000;

/** Builds a static program of a package that the Go module in a folder pins. */
export async function buildGoProgram(module: string, path: string, program: string, flags: string) {
  const options = ['-trimpath', '-buildvcs=false', '-ldflags', flags];
  await run('go', ['build', ...options, '-o', program, path], {
    cwd: module,
    env: { ...process.env, CGO_ENABLED: '0' },
    timeoutMs: BUILD_WITHIN_MS,
  });
}
