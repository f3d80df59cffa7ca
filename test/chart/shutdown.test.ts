// The time in which a pod of the Helm chart may end.
import { ANNOUNCED_IDLE_MS } from '@creditlane/gateway/listener';
import { describe, expect, test } from 'vitest';
import { findHelm, renderChart } from './helm.ts';

const helm = (await findHelm()) ?? '';

/** The grace of the service's pods, and what their container has in its environment. */
async function podOf(service: string, values: object) {
  const objects = await renderChart(helm, values, ['charts/creditlane/values/ci.yaml']);
  const name = `test-creditlane-${service}`;
  const deployment = objects.find((it) => it.kind === 'Deployment' && it.metadata.name === name);
  if (deployment === undefined) throw new Error(`the chart makes no ${name}`);
  const { containers, terminationGracePeriodSeconds } = deployment.spec.template.spec;
  return { env: containers[0].env, grace: terminationGracePeriodSeconds };
}

describe.skipIf(!helm)('the drain of the gateway', () => {
  test.each([
    // As `helm upgrade --reuse-values` from a chart without them.
    { drainSeconds: null, closeSeconds: null, drain: '7s', grace: 49 },
    { drainSeconds: 0, closeSeconds: 32, drain: '0s', grace: 42 },
    { drainSeconds: 20, closeSeconds: 132, drain: '20s', grace: 162 },
  ])(
    'of $drainSeconds seconds, and the close of $closeSeconds, are part of the time in which a pod may end',
    async ({ drain, grace, ...shutdown }) => {
      const pod = await podOf('gateway', { shutdown });
      expect(pod.env).toContainEqual({ name: 'DRAIN_TIME', value: drain });
      expect(pod.grace).toBe(grace);
    },
  );

  test('is three seconds longer than an idle connection is announced to be kept', async () => {
    const value = `${ANNOUNCED_IDLE_MS / 1_000 + 3}s`;
    expect((await podOf('gateway', {})).env).toContainEqual({ name: 'DRAIN_TIME', value });
  });
});

describe.skipIf(!helm)('a DRAIN_TIME among the settings', () => {
  test.each([
    ['of all services', { settings: { DRAIN_TIME: '20s' } }, { gateway: 20, decisions: 20 }],
    [
      'of one service',
      {
        settings: { DRAIN_TIME: '20s' },
        services: { decisions: { settings: { DRAIN_TIME: '1m' } } },
      },
      { gateway: 20, decisions: 60 },
    ],
    ['that is short', { settings: { DRAIN_TIME: '500ms' } }, { gateway: 1, decisions: 1 }],
  ])('%s is part of the time in which a pod may end', async (_, values, drainSeconds) => {
    for (const [service, seconds] of Object.entries(drainSeconds))
      expect((await podOf(service, values)).grace, service).toBe(5 + seconds + 32 + 5);
  });
});

describe.skipIf(!helm)('a pod may take as long to end', () => {
  const AROUND = 5 + 7 + 5;
  test.each([
    ['credit-file', 'BUREAU_DEADLINE', '10s', 32],
    ['credit-file', 'BUREAU_DEADLINE', '60s', 72],
    ['credit-file', 'BUREAU_DEADLINE', '2m', 132],
    ['credit-file', 'BUREAU_DEADLINE', '20500ms', 33],
    ['gateway', 'CLOSE_GRACE', '45s', 56],
  ])('as %s needs with a %s of %s', async (service, setting, value, closeSeconds) => {
    const services = { [service]: { settings: { [setting]: value } } };
    const pod = await podOf(service, { services });
    expect(pod.grace).toBe(AROUND + closeSeconds);
    const others = await podOf('decisions', { services });
    expect(others.grace).toBe(AROUND + 32);
  });
});
