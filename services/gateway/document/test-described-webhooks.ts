/** For tests: compares every webhook that a receiver of the tests gets with the OpenAPI document. */
import { type DescribedParameter, openApiDocument, resolveReference } from './openapi-document.ts';
import { closedSchemas } from './test-closed-schemas.ts';

/** A webhook as a receiver got it; header names in lower case. */
interface ReceivedWebhook {
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

/** Headers that the document must describe where a webhook has them. */
const OWN_HEADERS = /^(x-|webhook-)/;

const document = openApiDocument();
const checkBody = closedSchemas(document);
const checkHeader = closedSchemas(document, { fromText: true });
/** By the address that is appended to the destination's URL: that of applicationBooked is "/application-booked". */
const names = new Map(
  Object.keys(document.webhooks).map((name) => [
    `/${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    name,
  ]),
);

/** Throws an Error that names what the document does not describe: the address, a header or a field of the body. */
export function requireDescribedWebhook({ path, headers, body }: ReceivedWebhook): void {
  const name = names.get(path.slice(path.lastIndexOf('/'))) ?? '';
  const faults =
    name === ''
      ? ['no webhook has this address']
      : [...headerFaults(name, headers), ...bodyFaults(name, headers, body)];
  if (faults.length === 0) return;
  throw new Error(
    `a webhook to ${path} differs from its description:\n${faults.join('\n')}\n${body.slice(0, 2_000)}`,
  );
}

function headerFaults(name: string, headers: ReceivedWebhook['headers']): string[] {
  const { parameters = [] } = document.webhooks[name]?.post ?? {};
  const at = ['webhooks', name, 'post', 'parameters'];
  const described = parameters.map((parameter, index) => {
    const { $ref } = parameter as { $ref?: string };
    const own = resolveReference<DescribedParameter>(document, parameter);
    const place = $ref === undefined ? [...at, String(index)] : $ref.split('/').slice(1);
    return { name: own.name.toLowerCase(), isRequired: own.required === true, place };
  });
  const missing = described
    .filter((it) => it.isRequired && headers[it.name] === undefined)
    .map((it) => `the header ${it.name} is missing`);
  const wrong = Object.entries(headers).flatMap(([header, value]) => {
    const match = described.find((it) => it.name === header);
    if (match !== undefined) {
      const found = checkHeader([...match.place, 'schema'], value);
      return found.map((fault) => `the header ${header} ${fault}`);
    }
    return OWN_HEADERS.test(header) ? [`the header ${header} is not described`] : [];
  });
  return [...missing, ...wrong];
}

function bodyFaults(name: string, headers: ReceivedWebhook['headers'], body: string): string[] {
  const type = String(headers['content-type']);
  if (type !== 'application/json') return [`the content type is ${type}`];
  const at = ['webhooks', name, 'post', 'requestBody', 'content', type, 'schema'];
  return checkBody(at, JSON.parse(body));
}
