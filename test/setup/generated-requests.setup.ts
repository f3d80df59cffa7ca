/**
 * Provides how many requests the tests generate for each operation: few, unless `npm run fuzz` or
 * GENERATED_REQUESTS asks for more. GENERATED_REQUESTS_SEED makes others than those of `npm test`.
 */
import type {} from '@creditlane/gateway/document/test-requests';
import type { TestProject } from 'vitest/node';

export default function setup(project: TestProject): void {
  const { GENERATED_REQUESTS: runs = '40', GENERATED_REQUESTS_SEED: seed = '20260331' } =
    process.env;
  project.provide('generatedRequests', { runs: Number(runs), seed: Number(seed) });
}
