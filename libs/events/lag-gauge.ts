/** The metric of the messages that consumer groups have not handled. */
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';

/** Registers the metric; `lags` is called whenever the metrics are read. */
export function measureLag(
  metrics: Metrics,
  lags: () => Iterable<readonly [group: string, lag: number]>,
): void {
  const help = 'Messages that a consumer group has not handled yet, over all its members.';
  metrics.gauge('consumer_lag', help, ['group'], (gauge) => {
    for (const [group, lag] of lags()) gauge.set({ group }, lag);
  });
}
