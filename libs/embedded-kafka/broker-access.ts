/**
 * Who may use a cluster. Every client proves by a password which user it is, and so do the brokers and
 * controllers to one another. Used for the embedded Kafka and for the Kafka of compose.yaml.
 */

/** The user of the brokers themselves and of the commands that make topics. It may do everything. */
export const KAFKA_ADMIN = 'creditlane_admin';

/** The passwords of a cluster's users: letters, digits, `-` and `_`. */
export interface KafkaPasswords {
  /** That of `KAFKA_ADMIN`. */
  admin: string;
  /** Those of the other users, by name. A user may do what the cluster's access rules allow it. */
  users: Readonly<Record<string, string>>;
}

/** The listeners of a cluster with passwords. */
export const CLIENT_LISTENER = 'CLIENTS';
export const CONTROLLER_LISTENER = 'CONTROLLER';

/**
 * Limits of what a client without a password takes of a broker.
 *
 * A broker allocates a request's memory when the request announces its length, before it knows the user. With
 * the default of 512 KiB, 700 connections that announced it and sent nothing used up a heap of 384 MiB. With
 * these limits, 4,096 connections take 25 MB. A request of PLAIN has less than 200 bytes.
 */
const LIMITS = {
  'sasl.server.max.receive.size': '8192',
  // For each listener. Beyond it, new connections wait until others are closed.
  'max.connections': '4096',
  // Beyond it, new connections are closed. A process of the platform has about ten.
  'max.connections.per.ip': '1024',
  // The default is ten minutes. Consumers are never idle, and producers connect again without an error.
  'connections.max.idle.ms': '60000',
};

/**
 * The broker settings that make both listeners require a password, and limit clients that have none.
 *
 * The mechanism is PLAIN, because the brokers read its users from their settings at each start: a cluster
 * of an earlier version gets its users by a restart. SCRAM keeps users among the cluster's data. They would
 * have to be written there by a command line that names the passwords, and controllers cannot use SCRAM.
 * PLAIN sends the password itself, so the brokers must be on loopback or on a network of their own.
 */
export function accessSettings({ admin, users }: KafkaPasswords): Record<string, string> {
  const ofAdmin = { [KAFKA_ADMIN]: admin };
  return {
    'listener.security.protocol.map': [CLIENT_LISTENER, CONTROLLER_LISTENER]
      .map((listener) => `${listener}:SASL_PLAINTEXT`)
      .join(','),
    'inter.broker.listener.name': CLIENT_LISTENER,
    'sasl.enabled.mechanisms': 'PLAIN',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.mechanism.controller.protocol': 'PLAIN',
    [loginSetting(CLIENT_LISTENER)]: login(admin, { ...ofAdmin, ...users }),
    [loginSetting(CONTROLLER_LISTENER)]: login(admin, ofAdmin),
    // Without a rule for a topic or group, only the administrator may use it.
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': `User:${KAFKA_ADMIN}`,
    ...LIMITS,
  };
}

function loginSetting(listener: string): string {
  return `listener.name.${listener.toLowerCase()}.plain.sasl.jaas.config`;
}

/** The name and password that the broker itself shows, and those that it accepts. */
function login(password: string, accepted: Readonly<Record<string, string>>): string {
  const options = [
    `username="${KAFKA_ADMIN}"`,
    `password="${password}"`,
    ...Object.entries(accepted).map(([user, secret]) => `user_${user}="${secret}"`),
  ];
  return `org.apache.kafka.common.security.plain.PlainLoginModule required ${options.join(' ')};`;
}
