import { expectAtMost } from '@creditlane/runtime/test-measures';
import { FEW_OLD_BYTES, oldBytesOfEach } from '@creditlane/runtime/test-old-generation';
import { test } from 'vitest';
import { createTestDatabase } from '../test-database.ts';

test.each(['pipeline', 'query'])('V8 collects a %s with its young objects', async (what) => {
  const db = await createTestDatabase('old_generation');
  const program = new URL('./test-queries.ts', import.meta.url);
  const bytes = await oldBytesOfEach(program, db.url, what);
  await db.drop();
  expectAtMost(FEW_OLD_BYTES, `bytes that a ${what} leaves in the old generation`, bytes);
});
