/** The jars of a Kafka broker, in the versions that pom.xml pins. */
import { join } from 'node:path';
import { fetchClasspath, JarsUnavailableError } from '@creditlane/maven-jars/maven-jars';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';

/** Kafka cannot run on this machine: Java, Maven or the jars are missing. */
export class KafkaUnavailableError extends LoggableError {}

/** Returns the class path for Kafka's programs. Throws `KafkaUnavailableError`. */
export async function kafkaClasspath(): Promise<string> {
  try {
    return await fetchClasspath({ name: 'Kafka', pom: join(import.meta.dirname, 'pom.xml') });
  } catch (error) {
    if (!(error instanceof JarsUnavailableError)) throw error;
    throw new KafkaUnavailableError(error.message, { cause: error });
  }
}
