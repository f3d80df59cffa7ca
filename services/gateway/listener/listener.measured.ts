import { expectAtMost } from '@creditlane/runtime/test-measures';
import { FEW_OLD_BYTES, oldBytesOfEach } from '@creditlane/runtime/test-old-generation';
import { test } from 'vitest';

test('V8 collects a request and its answer with its young objects', async () => {
  const bytes = await oldBytesOfEach(new URL('./test-requests.ts', import.meta.url));
  expectAtMost(FEW_OLD_BYTES, 'bytes that a request leaves in the old generation', bytes);
});
