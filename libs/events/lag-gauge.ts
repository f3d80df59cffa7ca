/** How far the consumers are behind, as a figure of the process. */
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';

/** Has `lags` asked for each group's messages whenever the metrics are read. */
export function measureLag(
  metrics: Metrics,
  lags: () => Iterable<readonly [group: string, lag: number]>,
): void {
  const help = 'Messages a consumer group has not handled yet, over all its members.';
  metrics.gauge('consumer_lag', help, ['group'], (gauge) => {
    for (const [group, lag] of lags()) gauge.set({ group }, lag);
  });
}
