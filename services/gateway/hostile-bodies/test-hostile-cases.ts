/** For tests: hostile bodies of all operations, in an order that a seed gives, and a gateway to which they are sent. */
import { newId } from '@creditlane/runtime/ids';
import { seededRandom } from '@creditlane/runtime/test-seeded-random';
import { type JsonObject, openApiDocument } from '../document/openapi-document.ts';
import { type Operation, operationsOf } from '../document/operation.ts';
import type { startTestGateway } from '../test-gateway.ts';
import { type HostileBody, hostileBodies } from './test-hostile-bodies.ts';

/** Of more than 12,000 bodies; a change of the limits or of validation is worth a run with all of them. */
const SENT = 200;
const SEED = 20_260_331;

export const document = openApiDocument();
export const operations = operationsOf(document);

type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;

export interface HostileCase {
  operation: Operation;
  body: HostileBody;
}

export const nameOf = ({ operation, body }: HostileCase) =>
  `seed ${SEED}: ${operation.id}, ${body.what}`;
/** The body in that share of the bytes that its operation takes. */
export const textOf = ({ operation, body }: HostileCase, share = 1) =>
  body.text(Math.floor(operation.bodyLimits.maxBytes * share));

/** The first of all cases of these operations. */
export function someHostileCases(of: (operation: Operation) => boolean = () => true) {
  const random = seededRandom(SEED);
  return operations
    .flatMap((operation) => {
      const path = document.paths[operation.route.replace('/v1', '')];
      const { requestBody } = path?.[operation.method] ?? {};
      const schema = requestBody?.content['application/json']?.schema ?? ({} as JsonObject);
      return hostileBodies(document, schema).map((body) => ({ operation, body }));
    })
    .map((it) => ({ it, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ it }) => it)
    .filter(({ operation }) => of(operation))
    .slice(0, SENT);
}

/** Those that fetch sends: it sends no body with GET. */
export const sentHostileCases = () => someHostileCases(({ method }) => method !== 'get');

export async function sendHostile(gateway: TestGateway, it: HostileCase, text: string) {
  const { method, route, access } = it.operation;
  const ids: Record<string, string> = {
    applicationId: gateway.ids.application,
    creditorId: gateway.ids.creditor,
  };
  const path = route.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? newId());
  const key = access.caller === 'platform' ? gateway.platformKey : gateway.key;
  return gateway.send(method.toUpperCase(), path, { key, body: text });
}
