import { expect, test } from 'vitest';
import { run } from './run.ts';

test('a program gets its input, and its output is returned', async () => {
  expect(await run('cat', [], { input: 'text' })).toBe('text');
});

test('a program that ends without reading its input is reported by its exit code', async () => {
  const input = 'x'.repeat(1_000_000);
  const failing = run('sh', ['-c', 'echo refused >&2; exit 3'], { input });
  await expect(failing).rejects.toThrow(/ended with 3:\nrefused$/);
});
