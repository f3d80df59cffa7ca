/** For tests: compares every answer of a running gateway with the OpenAPI document. */
import { type JsonObject, openApiDocument } from './openapi-document.ts';
import { operationsOf } from './operation.ts';
import { closedSchemas } from './test-closed-schemas.ts';

/** An answer whose body was read. */
interface ReadAnswer {
  method: string;
  url: string;
  status: number;
  headers: Headers;
  text: string;
}

/** Headers of HTTP itself, of the connection, and those that every answer has for browsers. */
const GENERAL_HEADERS = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-type', 'date'],
  'content-encoding',
  ...['cache-control', 'content-security-policy', 'referrer-policy', 'strict-transport-security'],
  // `allow` is of 405, which is the answer to requests for no operation.
  ...['x-content-type-options', 'vary', 'allow'],
]);
/** The statuses of requests that reach no operation. */
const UNROUTED = new Set([400, 404, 405, 501]);
const MAX_SHOWN = 2_000;

const document = openApiDocument();
const checkBody = closedSchemas(document);
const checkHeader = closedSchemas(document, { fromText: true });
/** Paths without placeholders first: they go before others that match. */
const routes = operationsOf(document)
  .map(({ method, route }) => ({
    method: method.toUpperCase(),
    path: route.replace('/v1', ''),
    pattern: new RegExp(`^${route.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))
  .sort((one, other) => one.path.split('{').length - other.path.split('{').length);

/**
 * Throws an Error that names what the document does not describe: the status, a header, the content type or
 * a field of the body. Answers outside /v1 are not checked.
 */
export function requireDescribedAnswer(method: string, response: Response, text: string): void {
  const { url, status, headers } = response;
  const answer = { method, url, status, headers, text };
  const { pathname } = new URL(url);
  if (!pathname.startsWith('/v1/') || pathname === '/v1/openapi.json') return;
  const described = method === 'HEAD' ? 'GET' : method;
  const route = routes.find((it) => it.method === described && it.pattern.test(pathname));
  const at = resolved(route === undefined ? unrouted(answer) : answersOf(route, answer));
  const faults = [...headerFaults(at, answer), ...bodyFaults(at, answer)];
  if (faults.length > 0) fail(answer, faults.join('\n'));
}

function fail({ method, url, status, text }: ReadAnswer, reason: string): never {
  throw new Error(
    `${method} ${new URL(url).pathname} answered ${status}; the document does not describe this answer:\n` +
      `${reason}\n${text.slice(0, MAX_SHOWN)}`,
  );
}

/** The place of the operation's answer with this status. */
function answersOf({ path, method }: (typeof routes)[number], answer: ReadAnswer): string[] {
  const responses = ['paths', path, method.toLowerCase(), 'responses'];
  const statuses = valueAt(responses) ?? {};
  if (!(answer.status in statuses)) fail(answer, `${Object.keys(statuses)} are its statuses`);
  return [...responses, String(answer.status)];
}

function unrouted(answer: ReadAnswer): string[] {
  if (!UNROUTED.has(answer.status)) fail(answer, 'no operation has this method and path');
  return ['components', 'responses', 'BadRequest'];
}

function headerFaults(at: readonly string[], { headers }: ReadAnswer): string[] {
  const described = Object.entries((valueAt([...at, 'headers']) ?? {}) as JsonObject);
  const missing = described.flatMap(([name]) => {
    const isRequired = valueAt(resolved([...at, 'headers', name]))?.required === true;
    return isRequired && !headers.has(name) ? [`the header ${name} is missing`] : [];
  });
  const wrong = [...headers].flatMap(([name, value]) => {
    if (GENERAL_HEADERS.has(name)) return [];
    const match = described.find(([it]) => it.toLowerCase() === name);
    if (match === undefined) return [`the header ${name} is not described`];
    const faults = checkHeader([...resolved([...at, 'headers', match[0]]), 'schema'], value);
    return faults.map((fault) => `the header ${name} ${fault}`);
  });
  return [...missing, ...wrong];
}

function bodyFaults(at: readonly string[], { method, headers, text }: ReadAnswer): string[] {
  const content = Object.keys(valueAt([...at, 'content']) ?? {});
  const type = headers.get('content-type')?.split(';')[0];
  if (method === 'HEAD' || (text === '' && content.length === 0)) return [];
  if (type === undefined || !content.includes(type)) return [`the content type is ${type}`];
  if (!/\bjson$/.test(type)) return [];
  return checkBody([...at, 'content', type, 'schema'], JSON.parse(text));
}

/** The place to which the references at a place lead. */
function resolved(at: string[]): string[] {
  const { $ref } = valueAt(at) ?? {};
  return typeof $ref === 'string' ? resolved($ref.split('/').slice(1)) : at;
}

function valueAt(at: readonly string[]): JsonObject | undefined {
  let value: unknown = document;
  for (const step of at) value = (value as JsonObject | undefined)?.[step];
  return value as JsonObject | undefined;
}
