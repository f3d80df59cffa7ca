// The text of deploy/compose.yaml, made from the list of services.

import {
  accessSettings,
  CLIENT_LISTENER,
  CONTROLLER_LISTENER,
  KAFKA_ADMIN,
} from '@creditlane/embedded-kafka/broker-access';
import { formatTopicAccess } from '@creditlane/events/topic-access';
import { INSTALLED_SETTINGS } from '@creditlane/platform/installed-settings';
import { usesKafka, variableOf } from '@creditlane/platform/services';
import { addressVariable } from '@creditlane/rpc/client-settings';
import { type Variable, variablesOf } from '@creditlane/runtime/setting';
import type { AnyService } from '@creditlane/service/define-service';
import { processVariables } from '@creditlane/service/settings';

/** compose.yaml: PostgreSQL, Kafka, the commands that create databases and topics, and each service. */
export function composeFile(services: readonly AnyService[]): string {
  const trust = services.flatMap(({ name, calls }) =>
    calls === undefined ? [] : [secret(variableOf(name, 'IDENTITY_TRUST'))],
  );
  const blocks = services.map((service) => serviceBlock(service, services));
  return `${HEADER}
x-identity-trust: &identity-trust
  IDENTITY_TRUST: ${folded(trust)}

x-kafka: &kafka
  KAFKA_BROKERS: kafka:9092
  KAFKA_REPLICATION: "1"
  KAFKA_SASL_MECHANISM: plain

services:
${POSTGRES}
${kafkaBlock(services)}
${topicsBlock(services)}
${databasesBlock(services)}
${blocks.join('\n')}
volumes:
  postgres:
  kafka:
`;
}

function kafkaBlock(services: readonly AnyService[]): string {
  const users = services
    .filter(usesKafka)
    .map(({ name }) => [name, secret(variableOf(name, 'KAFKA_PASSWORD'))]);
  const access = accessSettings({
    admin: secret('KAFKA_PASSWORD'),
    users: Object.fromEntries(users),
  });
  // The image reads a setting such as `super.users` from the variable KAFKA_SUPER_USERS.
  const lines = Object.entries(access).map(
    ([name, value]) => `      KAFKA_${name.toUpperCase().replaceAll('.', '_')}: ${quoted(value)}\n`,
  );
  return `\
  # Every listener requires a password, that of the controller too: see libs/embedded-kafka/broker-access.ts.
  kafka:
    image: apache/kafka:4.1.0
    restart: unless-stopped
    ulimits: { core: 0 }
    environment:
      KAFKA_NODE_ID: "1"
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_LISTENERS: ${CLIENT_LISTENER}://:9092,${CONTROLLER_LISTENER}://:9093
      KAFKA_ADVERTISED_LISTENERS: ${CLIENT_LISTENER}://kafka:9092
      KAFKA_CONTROLLER_LISTENER_NAMES: ${CONTROLLER_LISTENER}
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
${lines.join('')}\
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: "1"
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: "1"
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: "1"
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: "false"
      KAFKA_LOG_DIRS: /var/lib/kafka/data
    volumes:
      - kafka:/var/lib/kafka/data
      # Volumes of the image that stay empty; without these lines each start would leave two volumes without a name.
      - { type: tmpfs, target: /etc/kafka/secrets }
      - { type: tmpfs, target: /mnt/shared/config }
    healthcheck:
      # The broker listens once it serves. Kafka's own command would need the password on a command line.
      test: [CMD, bash, -c, "exec 3<>/dev/tcp/127.0.0.1/9092"]
      interval: 10s
      timeout: 10s
      # "docker compose up" ends once this is unhealthy; on a busy machine Kafka's first start takes a minute.
      start_period: 180s
`;
}

function topicsBlock(services: readonly AnyService[]): string {
  return `\
  # Makes the topics and the services' access to them, and ends.
  topics:
    <<: *creditlane
    command: [libs/events/make-topics.ts]
    restart: on-failure
    environment:
      <<: [*kafka]
      KAFKA_SASL_USERNAME: ${KAFKA_ADMIN}
      KAFKA_SASL_PASSWORD: ${secret('KAFKA_PASSWORD')}
      ALLOW_PLAINTEXT: ${secret('ALLOW_PLAINTEXT')}
      KAFKA_TOPIC_ACCESS: ${folded(formatTopicAccess(services), '      ')}
    depends_on:
      kafka:
        condition: service_healthy
`;
}

function databasesBlock(services: readonly AnyService[]): string {
  const owned = services.flatMap(({ name, database }) =>
    database ? [`${database.name}:${secret(variableOf(name, 'DATABASE_PASSWORD'))}`] : [],
  );
  return `\
  # Makes the databases and roles that are missing, and ends; at each start.
  databases:
    <<: *creditlane
    build:
      context: ..
      dockerfile: deploy/Dockerfile
    command: [libs/postgres/make-databases.ts]
    restart: on-failure
    environment:
      ADMIN_DATABASE_URL: postgres://creditlane_admin:${secret('POSTGRES_PASSWORD')}@postgres/postgres
      ALLOW_PLAINTEXT: ${secret('ALLOW_PLAINTEXT')}
      DATABASES: ${folded(owned, '      ')}
      # The services get the same passwords of deploy/.env.
      SET_PASSWORDS: "true"
    depends_on:
      postgres:
        condition: service_healthy
`;
}

function serviceBlock(service: AnyService, services: readonly AnyService[]): string {
  const lines = environmentOf(service, services).map((line) => `      ${line}\n`);
  return `\
  # ${service.about}
  ${service.name}:
    <<: *service
    command: [services/${service.name}/main.ts]
${service.serves === 'http' ? PORTS : ''}\
${lines.length === 0 ? '' : `    environment:\n${lines.join('')}`}\
${service.database === undefined ? '' : NEEDS_DATABASE}`;
}

/** The environment of a service in compose.yaml, one line for each variable that must be set there. */
function environmentOf(service: AnyService, services: readonly AnyService[]): string[] {
  const { name, database, settings } = service;
  const read = new Set(processVariables(service).map((variable) => variable.name));
  const anchors = [
    ...(read.has('IDENTITY_TRUST') ? ['*identity-trust'] : []),
    ...(read.has('KAFKA_BROKERS') ? ['*kafka'] : []),
  ];
  const password = secret(variableOf(name, 'DATABASE_PASSWORD'));
  const values = {
    KAFKA_SASL_USERNAME: name,
    KAFKA_SASL_PASSWORD: secret(variableOf(name, 'KAFKA_PASSWORD')),
    ...(database && {
      DATABASE_URL: `postgres://${database.name}:${password}@postgres/${database.name}`,
    }),
    ALLOW_PLAINTEXT: secret('ALLOW_PLAINTEXT'),
    IDENTITY_KEY: secret(variableOf(name, 'IDENTITY_KEY')),
    PUBLIC_URL: optional('PUBLIC_URL', API_URL),
    BUREAUS: optional('BUREAUS', INSTALLED_SETTINGS.BUREAUS),
    TRANSUNION_REQUEST_TEMPLATE: optional('TRANSUNION_REQUEST_TEMPLATE', ''),
    ...Object.fromEntries(
      services.map((peer) => [addressVariable(peer.name), `${peer.name}:9000`]),
    ),
    ...Object.fromEntries(variablesOf(settings).filter(mustBeGiven).map(asReference)),
  };
  const needed = Object.entries(values).filter(([variable]) => read.has(variable));
  return [
    ...(anchors.length === 0 ? [] : [`<<: [${anchors.join(', ')}]`]),
    ...needed.map(([variable, value]) => `${variable}: ${value}`),
  ];
}

function mustBeGiven(variable: Variable): boolean {
  return variable.secret || variable.default === undefined;
}

function asReference({ name }: Variable): [string, string] {
  return [name, secret(name)];
}

/** A reference to a variable of deploy/.env; compose stops and shows the text where it is missing. */
function secret(name: string): string {
  return `\${${name}:?run npm run secrets}`;
}

/** A reference to a variable that may be in deploy/.env. */
function optional(name: string, otherwise: string): string {
  return `\${${name}:-${otherwise}}`;
}

/** YAML would read a number as such, and the variables of a container are texts. */
function quoted(value: string): string {
  return /^\d+$/.test(value) ? `"${value}"` : value;
}

/** Values separated by commas, a line for each. */
function folded(values: string[], indentation = '  '): string {
  const newline = `\n${indentation}  `;
  return `>-${newline}${values.join(`,${newline}`)}`;
}

const API_ADDRESS = '127.0.0.1:3000';
const API_URL = `http://${API_ADDRESS}`;

const PORTS = `\
    ports:
      - ${API_ADDRESS}:8080
      - 127.0.0.1:3001:9090
`;

const NEEDS_DATABASE = `\
    depends_on:
      databases:
        condition: service_completed_successfully
`;

const HEADER = `\
# Creditlane in containers: PostgreSQL, Kafka, and each service by itself.
# Made by "npm run generate" from the manifests in services/*/service.ts; do not edit.
#
#   npm run secrets                                      makes deploy/.env, or completes it
#   docker compose -f deploy/compose.yaml up --build
#
# The API is at ${API_URL}/v1; its documentation at /docs; the platform's key in deploy/.env.
# ALLOW_PLAINTEXT=true there permits that the services reach PostgreSQL and Kafka unencrypted: all are containers of one host.
# PUBLIC_URL, there or in the environment, is where clients reach the API otherwise, such as through a proxy.
name: creditlane

x-creditlane: &creditlane
  image: creditlane
  # The service "databases" builds it, once for all.
  pull_policy: never
  restart: unless-stopped
  read_only: true
  cap_drop: [ALL]
  security_opt: ["no-new-privileges:true"]
  # A core dump holds keys and social insurance numbers in the clear.
  ulimits: { core: 0 }
  # Longer than a service takes to shut down.
  stop_grace_period: 40s

# Services start in any order and wait for what they need; healthy means ready to serve.
x-service: &service
  <<: *creditlane
  healthcheck:
    test:
      - CMD
      - node
      - -e
      - "fetch('http://127.0.0.1:9090/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"
    interval: 5s
    # Starts a Node, which takes seconds on a busy machine.
    timeout: 10s
    retries: 3
    start_period: 60s
`;

const POSTGRES = `\
  postgres:
    image: postgres:18
    restart: unless-stopped
    ulimits: { core: 0 }
    # A client takes a connection before its password is known, and by default keeps it for a minute.
    command: [postgres, -c, authentication_timeout=5s]
    environment:
      POSTGRES_USER: creditlane_admin
      POSTGRES_PASSWORD: ${secret('POSTGRES_PASSWORD')}
    volumes:
      - postgres:/var/lib/postgresql
    healthcheck:
      test: [CMD, pg_isready, --username=creditlane_admin, --host=127.0.0.1]
      interval: 5s
      start_period: 60s
`;
