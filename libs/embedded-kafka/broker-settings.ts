/** The settings of an embedded broker, as in its server.properties. */
import {
  accessSettings,
  CLIENT_LISTENER,
  CONTROLLER_LISTENER,
  type KafkaPasswords,
} from './broker-access.ts';

/** The settings of broker `index`, whose cluster has these ports: those of the brokers, then of their controllers. */
export function settingsOf(index: number, host: string, ports: number[]) {
  const count = ports.length / 2;
  const controllers = ports.slice(count).map((port, at) => `${at}@${host}:${port}`);
  return {
    'process.roles': 'broker,controller',
    'node.id': index,
    'controller.quorum.voters': controllers.join(','),
    'controller.listener.names': CONTROLLER_LISTENER,
    'auto.create.topics.enable': 'false',
    'offsets.topic.num.partitions': 3,
    'offsets.topic.replication.factor': count,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': count,
    'transaction.state.log.min.isr': 1,
    // The first member of a group does not wait for others: groups here have few members.
    'group.initial.rebalance.delay.ms': 0,
    // The default is a third of the heap, for compaction that hardly ever happens here.
    'log.cleaner.dedupe.buffer.size': 4_194_304,
    // Shorter than the defaults (9 s and 2 s): the cluster notices a dead broker sooner.
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
  };
}

/** The addresses of a broker and of its controller, and what each requires of clients. */
export function listenersOf(
  access: KafkaPasswords | 'anyone',
  host: string,
  port: number | undefined,
  controllerPort: number | undefined,
): Record<string, string> {
  const listener = access === 'anyone' ? 'PLAINTEXT' : CLIENT_LISTENER;
  return {
    listeners: `${listener}://${host}:${port},${CONTROLLER_LISTENER}://${host}:${controllerPort}`,
    ...(access !== 'anyone' && accessSettings(access)),
  };
}
