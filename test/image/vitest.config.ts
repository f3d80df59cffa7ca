// How the end-to-end tests run: as those of the cluster do.
import { defineConfig } from 'vitest/config';
import cluster from '../cluster/vitest.config.ts';

export default defineConfig({
  ...cluster,
  test: { ...cluster.test, include: ['test/image/*.e2e.ts'] },
});
