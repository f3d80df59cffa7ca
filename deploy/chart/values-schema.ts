/** charts/creditlane/values.schema.json, by which Helm refuses values that the chart does not know. */
import { PUBLIC_ADDRESS_BLOCKS } from '@creditlane/egress-rules/public-address';
import { PROCESS } from '@creditlane/runtime/run';
import { type Variable, variablesOf } from '@creditlane/runtime/setting';
import type { AnyService } from '@creditlane/service/define-service';
import { loginVariables, serviceFacts, settableVariables } from './service-facts.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The text of the schema, for the services of the manifests. */
export function valuesSchema(services: readonly AnyService[]): string {
  const entries = services.map((service) => [service.name, serviceSchema(service)]);
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment:
      'Made by "npm run generate" from the manifests in services/*/service.ts; do not edit.',
    definitions: { ...DEFINITIONS, ...KNOB_DEFINITIONS },
    ...closed({ ...VALUES, services: closed(Object.fromEntries(entries)) }),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function serviceSchema(service: AnyService): Schema {
  const variables = settableVariables(service);
  // A value of an installation must not contradict the manifest.
  const facts = serviceFacts(service);
  const constants = Object.entries(facts).map(([name, value]) => [name, { const: value }]);
  // The service's own Secret has the others.
  const fromOthers = variables.flatMap(({ name }) => (facts.secrets.includes(name) ? [] : [name]));
  const inFiles = [...fromOthers, ...loginVariables(service)];
  return closed({
    ...KNOBS,
    ...Object.fromEntries(constants),
    settings: settingsSchema(variables.filter(({ secret }) => !secret)),
    secretFiles: closed(Object.fromEntries(inFiles.map((it) => [it, reference('fromSecret')]))),
    secretName: NAME,
    ...(service.egressPorts && { egressPeers: OBJECTS }),
  });
}

function settingsSchema(variables: readonly Variable[]): Schema {
  return closed(Object.fromEntries(variables.map(({ name }) => [name, reference('setting')])));
}

/** An object with these properties only. */
function closed(properties: Schema, required: string[] = []): Schema {
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function reference(definition: string): Schema {
  return { $ref: `#/definitions/${definition}` };
}

const oneOf = (...values: string[]): Schema => ({ enum: values });
const atLeast = (minimum: number, maximum?: number): Schema => {
  return { type: 'integer', minimum, ...(maximum !== undefined && { maximum }) };
};

const TEXT: Schema = { type: 'string' };
const FLAG: Schema = { type: 'boolean' };
const PORT = atLeast(1, 65_535);
const NAME: Schema = { type: 'string', pattern: '^[A-Za-z0-9._-]{1,253}$' };
const OPTIONAL_NAME: Schema = { type: 'string', pattern: '^[A-Za-z0-9._-]{0,253}$' };
const TEXTS: Schema = { type: 'array', items: TEXT };
/** Parts of Kubernetes' own objects, which the cluster's API checks. */
const OBJECT: Schema = { type: 'object' };
const OBJECTS: Schema = { type: 'array', items: OBJECT };
const LABELS: Schema = { type: 'object', additionalProperties: TEXT };
const CIDR: Schema = { type: 'string', pattern: '^[0-9a-fA-F:.]+/[0-9]{1,3}$' };
const QUANTITY: Schema = { type: ['string', 'number', 'null'] };
/** Null removes what the chart would set, such as a limit. */
const QUANTITIES: Schema = {
  ...closed({ cpu: QUANTITY, memory: QUANTITY, 'ephemeral-storage': QUANTITY }),
  type: ['object', 'null'],
};

const DEFINITIONS: Schema = {
  setting: { type: ['string', 'number', 'boolean'] },
  fromSecret: closed({ secret: NAME, key: NAME }, ['secret', 'key']),
};

/** What `defaults` and each service may say. */
const KNOB_DEFINITIONS: Schema = {
  replicas: atLeast(0),
  autoscaling: closed({
    by: oneOf('none', 'cpu', 'lag'),
    minReplicas: atLeast(1),
    maxReplicas: atLeast(1),
    cpuPercent: atLeast(1),
    lag: atLeast(1),
  }),
  podDisruptionBudget: closed({
    minAvailable: { type: ['string', 'integer'] },
    maxUnavailable: { type: ['string', 'integer', 'null'] },
  }),
  resources: closed({ requests: QUANTITIES, limits: QUANTITIES }),
  nodeSelector: LABELS,
  tolerations: OBJECTS,
  affinity: OBJECT,
  priorityClassName: OPTIONAL_NAME,
  podAnnotations: LABELS,
  podLabels: LABELS,
};

const KNOBS: Schema = Object.fromEntries(
  Object.keys(KNOB_DEFINITIONS).map((name) => [name, reference(name)]),
);

const VALUES: Schema = {
  // Helm's own, for a chart that is part of another one.
  global: OBJECT,
  image: closed({
    repository: { type: 'string', minLength: 1 },
    tag: TEXT,
    digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    pullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
    writable: FLAG,
    watch: FLAG,
    pullSecrets: { type: 'array', items: NAME },
  }),
  postgres: closed({
    host: {
      type: 'string',
      pattern: '^[A-Za-z0-9.-]+$',
      description: 'The server of the databases.',
    },
    port: PORT,
    sslMode: oneOf('', 'require', 'verify-ca', 'verify-full'),
    caSecret: OPTIONAL_NAME,
    peers: OBJECTS,
  }),
  kafka: closed({
    brokers: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', pattern: '^[A-Za-z0-9.-]+:[0-9]{1,5}$' },
    },
    peers: OBJECTS,
    ports: { type: 'array', items: PORT },
    prefix: TEXT,
    replication: atLeast(0, 10),
    saslMechanism: oneOf('none', 'plain', 'scram-sha-256', 'scram-sha-512'),
    tls: FLAG,
    caSecret: OPTIONAL_NAME,
  }),
  allowPlaintext: FLAG,
  secretPrefix: OPTIONAL_NAME,
  tls: closed({ enabled: FLAG, issuer: closed({ name: NAME, kind: NAME, group: NAME }) }),
  settings: settingsSchema(variablesOf(PROCESS)),
  defaults: closed(KNOBS),
  shutdown: closed({
    preStopSeconds: atLeast(1, 300),
    drainSeconds: atLeast(0, 60),
    closeSeconds: atLeast(20, 300),
  }),
  jobs: closed({ resources: reference('resources') }),
  migrations: closed({ by: oneOf('job', 'hook', 'start') }),
  topics: closed({ enabled: FLAG, access: FLAG, username: NAME }),
  databases: closed({ enabled: FLAG }),
  networkPolicy: closed({
    enabled: FLAG,
    gatewayClients: OBJECTS,
    monitoring: OBJECTS,
    traces: OBJECTS,
    tracesPort: PORT,
    dns: { ...OBJECTS, minItems: 1 },
    dnsPort: PORT,
    notPublic: { type: 'array', items: CIDR },
  }),
  route: closed({ enabled: FLAG, parentRefs: OBJECTS, hostnames: TEXTS }),
  ingress: closed({
    enabled: FLAG,
    className: OPTIONAL_NAME,
    annotations: LABELS,
    host: TEXT,
    tlsSecret: OPTIONAL_NAME,
  }),
  monitoring: closed({
    serviceMonitor: FLAG,
    prometheusRules: FLAG,
    runbooks: { type: 'string', pattern: '^(https?://.*/)?$' },
    labels: LABELS,
    interval: { type: 'string', pattern: '^[0-9]+(ms|s|m)$' },
    dashboards: FLAG,
  }),
  publicAddresses: { const: PUBLIC_ADDRESS_BLOCKS },
};
