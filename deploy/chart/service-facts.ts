/** What the Helm chart knows of each service, made from the service's manifest. */
import { type Variable, variablesOf } from '@creditlane/runtime/setting';
import type { AnyService } from '@creditlane/service/define-service';
import { processVariables } from '@creditlane/service/settings';
import { type Resources, resourcesOf } from './measured-resources.ts';

/** The facts of one service; an operator's values cannot change them. */
export interface ServiceFacts {
  serves: 'calls' | 'http';
  /** The name of its database and of the role that owns it. */
  database?: string;
  publishes?: readonly string[];
  consumes?: readonly string[];
  calls: readonly string[];
  /** The variables whose values its Secret must have. */
  secrets: string[];
  /** The ports of the public addresses that it reaches: the setting that names them, and its default. */
  egressPorts?: { setting: string; default: string };
  /** What its pods ask for unless an operator's `resources` say otherwise. */
  resourceDefaults: Resources;
}

/** The variables that the chart derives from its other values; an operator sets them there. */
const SET_BY_CHART = new Set([
  'DATABASE_URL',
  'DATABASE_PASSWORD',
  'MIGRATE_AT_START',
  'ALLOW_PLAINTEXT',
  'IDENTITY_KEY',
  'IDENTITY_TRUST',
  'KAFKA_BROKERS',
  'KAFKA_PREFIX',
  'KAFKA_REPLICATION',
  'KAFKA_SSL',
  'KAFKA_SSL_CA',
  'KAFKA_SASL_MECHANISM',
  'KAFKA_SASL_USERNAME',
  'KAFKA_SASL_PASSWORD',
  'TLS_CERT_FILE',
  'TLS_KEY_FILE',
  'TLS_CA_FILE',
  // The ports of the chart's containers, Services and probes.
  'HOST',
  'PORT',
  'GRPC_PORT',
  'HTTP_PORT',
  'OPS_PORT',
]);

export function serviceFacts(service: AnyService): ServiceFacts {
  const { serves, database, publishes, consumes, calls = [], settings, egressPorts } = service;
  const own = variablesOf(settings);
  const secrets = own.filter(({ secret, default: value }) => secret && value === undefined);
  const ports = own.find(({ name }) => name === egressPorts);
  return {
    serves,
    ...(database && { database: database.name }),
    ...(publishes && { publishes }),
    ...(consumes && { consumes }),
    calls,
    secrets: [
      ...(database ? ['DATABASE_PASSWORD'] : []),
      ...(calls.length > 0 ? ['IDENTITY_KEY'] : []),
      ...secrets.map(({ name }) => name),
    ],
    ...(ports && { egressPorts: { setting: ports.name, default: ports.default ?? '' } }),
    resourceDefaults: resourcesOf(service.name),
  };
}

/**
 * The variables that the chart derives and a Secret may give instead: with the name of the login beside its password, a service
 * changes from one login to another without a gap.
 */
export function loginVariables({ database, publishes, consumes }: AnyService): string[] {
  return [
    ...(database ? ['DATABASE_URL'] : []),
    ...(publishes || consumes ? ['KAFKA_SASL_USERNAME'] : []),
  ];
}

/** The variables of a service that an operator of the chart may set. */
export function settableVariables(service: AnyService): Variable[] {
  return processVariables(service).filter(
    ({ name }) => !(SET_BY_CHART.has(name) || name.endsWith('_ADDRESS')),
  );
}
