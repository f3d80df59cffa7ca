/** The same with a process for each service and a Kafka broker; needs Java and Maven. */
import { KafkaUnavailableError, kafkaClasspath } from '@creditlane/embedded-kafka/jars';
import type { Bench } from '../harness.ts';
import { measureThroughput } from '../load/throughput.ts';

export default async function measure(bench: Bench): Promise<void> {
  try {
    await kafkaClasspath();
  } catch (error) {
    if (!(error instanceof KafkaUnavailableError)) throw error;
    bench.print(`NOT MEASURED, because there is no Kafka. ${error.message}`);
    return;
  }
  await measureThroughput('processes')(bench);
}
