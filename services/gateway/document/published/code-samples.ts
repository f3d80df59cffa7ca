/**
 * Code samples of an operation for curl, TypeScript and Python, made from its description and its examples. They
 * read the address of the interface and the key from the environment variables that the guide names.
 */
import { JSON_TYPE } from '../../http/media-types.ts';
import { examplesOf } from '../examples.ts';
import type { DescribedParameter, JsonValue, OpenApiDocument } from '../openapi-document.ts';
import type { Operation } from '../operation.ts';
import { literal, PYTHON, TYPE_SCRIPT } from './literals.ts';

/** @see https://redocly.com/docs/realm/content/api-docs/openapi-extensions/x-code-samples */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

const KEY_VARIABLES = { integration: 'KEY', platform: 'PLATFORM_KEY', link: undefined };

/** The request that the three samples make. */
interface SampleRequest {
  readonly operation: Operation;
  /** The path below the base path, with the examples of its parameters. */
  readonly url: string;
  /** The query with its question mark; empty without one. */
  readonly search: string;
  readonly path: Record<string, JsonValue>;
  readonly query: Record<string, JsonValue>;
  readonly header: Record<string, JsonValue>;
  readonly body: JsonValue | undefined;
  /** The environment variable with the key; undefined where the operation needs none. */
  readonly keyVariable: string | undefined;
  readonly isList: boolean;
  readonly hasAnswerBody: boolean;
  /** The name of a file for an answer that is no JSON. */
  readonly answerFile: string | undefined;
}

/**
 * Three samples for the first example of the operation's body, and three for each further one. Throws an Error that
 * names a required parameter without an example.
 */
export function codeSamplesOf(document: OpenApiDocument, operation: Operation): CodeSample[] {
  const { method, route } = operation;
  const path = route.slice(document.servers[0]?.url.length);
  const content = document.paths[path]?.[method]?.requestBody?.content[JSON_TYPE];
  const [first, ...further] = examplesOf(document, content);
  const samples = (body: JsonValue | undefined, suffix: string) => {
    const request = sampleRequest(operation, path, body);
    return [
      { lang: 'shell', label: `curl${suffix}`, source: curlSample(request) },
      { lang: 'typescript', label: `TypeScript${suffix}`, source: typeScriptSample(request) },
      { lang: 'python', label: `Python${suffix}`, source: pythonSample(request) },
    ];
  };
  return [
    ...samples(first?.value, ''),
    ...further.flatMap(({ name, value }) => samples(value, ` (${name})`)),
  ];
}

function sampleRequest(
  operation: Operation,
  described: string,
  body: JsonValue | undefined,
): SampleRequest {
  const { access, parameters, successes } = operation;
  const shown = parameters.filter((it) => it.required || isNeeded(it, operation));
  const valuesIn = (place: DescribedParameter['in']) =>
    Object.fromEntries(
      shown.filter((it) => it.in === place).map((it) => [it.name, exampleOf(operation, it)]),
    );
  const path = valuesIn('path');
  const query = valuesIn('query');
  const search = new URLSearchParams(query as Record<string, string>).toString();
  const filled = described.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(`${path[name]}`));
  return {
    operation,
    url: filled,
    search: search && `?${search}`,
    path,
    query,
    header: valuesIn('header'),
    body,
    keyVariable: KEY_VARIABLES[access.caller],
    isList: parameters.some((it) => it.in === 'query' && it.name === 'cursor'),
    hasAnswerBody: [...successes.values()].some((type) => type !== undefined),
    answerFile: answerFileOf(successes),
  };
}

function answerFileOf(successes: Operation['successes']): string | undefined {
  const [type] = successes.values();
  return type === undefined || type === JSON_TYPE ? undefined : `answer.${type.split('/')[1]}`;
}

/** An optional header without which many callers are refused: those with grants on several retailers. */
function isNeeded({ name }: DescribedParameter, { access }: Operation): boolean {
  return access.requiresRetailer && name === 'X-Service-Retailer-ID';
}

function takesKey({ parameters }: Operation): boolean {
  return parameters.some(({ name }) => name === 'Idempotency-Key');
}

function exampleOf({ id }: Operation, parameter: DescribedParameter): JsonValue {
  const { example } = parameter;
  if (example === undefined) throw new Error(`${id} needs an example of its ${parameter.name}`);
  return example;
}

function curlSample(request: SampleRequest): string {
  const { operation, url, search, header, body, keyVariable, answerFile } = request;
  const method = operation.method.toUpperCase();
  const isImplied = method === 'GET' || (method === 'POST' && body !== undefined);
  const headers = Object.entries(header).map(([name, value]) => `-H "${name}: ${value}"`);
  const data = JSON.stringify(body, null, 2)?.replaceAll("'", "'\\''");
  return [
    `curl ${isImplied ? '' : `-X ${method} `}"$BASE_URL${url}${search}"`,
    ...(keyVariable === undefined ? [] : [`-H "Authorization: Bearer $${keyVariable}"`]),
    ...headers,
    ...(answerFile === undefined ? [] : [`-o ${answerFile}`]),
    ...(takesKey(operation) ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(data === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${data}'`]),
  ].join(' \\\n  ');
}

function typeScriptSample(request: SampleRequest): string {
  const { operation, path, query, header, body, isList, hasAnswerBody, answerFile } = request;
  // The client is made with a key, also where an operation needs none.
  const { keyVariable = 'KEY' } = request;
  const input = { path, query, header, ...(body !== undefined && { body }) };
  const parts = Object.entries(input).filter(
    ([name, value]) => name === 'body' || Object.keys(value ?? {}).length > 0,
  );
  // The parts of the input are on lines of their own, however short they are.
  const lines = parts.map(([name, value]) => `  ${name}: ${literal(value, TYPE_SCRIPT, '  ')},\n`);
  const given = lines.length > 0 ? `({\n${lines.join('')}})` : '()';
  const opening = [
    ...(answerFile === undefined ? [] : ["import { writeFile } from 'node:fs/promises';"]),
    "import { createClient } from '@creditlane/client';",
    '',
    `const { BASE_URL = '', ${keyVariable} = '' } = process.env;`,
    `const client = createClient({ baseUrl: BASE_URL, apiKey: ${keyVariable} });`,
    '',
  ];
  const call = `client.${operation.id}`;
  if (isList) {
    const records = `const records = ${call}.each${given};`;
    return [...opening, records, 'for await (const record of records) console.log(record);'].join(
      '\n',
    );
  }
  if (!hasAnswerBody) return [...opening, `await ${call}${given};`].join('\n');
  const use =
    answerFile === undefined ? 'console.log(body);' : `await writeFile('${answerFile}', body);`;
  return [...opening, `const { body } = await ${call}${given};`, use].join('\n');
}

function pythonSample(request: SampleRequest): string {
  const { operation, url, search, header, body, keyVariable, isList, answerFile } = request;
  const hasJson = request.hasAnswerBody && answerFile === undefined;
  const isKeyed = takesKey(operation);
  const headers = [
    ...(keyVariable === undefined
      ? []
      : [`"Authorization": "Bearer " + os.environ["${keyVariable}"]`]),
    ...Object.entries(header).map(([name, value]) => `"${name}": ${PYTHON.scalar(value)}`),
    ...(isKeyed ? ['"Idempotency-Key": str(uuid.uuid4())'] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ].map((line) => `    ${line},\n`);
  const opening = [
    ...(hasJson || body !== undefined ? ['import json'] : []),
    'import os',
    ...(isKeyed ? ['import uuid'] : []),
    ...(isList ? ['from urllib.parse import urlencode'] : []),
    'from urllib.request import Request, urlopen',
    '',
    `headers = {${headers.length > 0 ? '\n' : ''}${headers.join('')}}`,
  ];
  if (isList) return [...opening, pythonPages(request)].join('\n');
  const given = [
    `os.environ["BASE_URL"] + "${url}${search}"`,
    ...(operation.method === 'get' ? [] : [`method="${operation.method.toUpperCase()}"`]),
    'headers=headers',
    ...(body === undefined ? [] : ['data=json.dumps(body).encode()']),
  ].map((line) => `    ${line},\n`);
  return [
    ...opening,
    ...(body === undefined ? [] : [`body = ${literal(body, PYTHON, '')}`]),
    `request = Request(\n${given.join('')})`,
    'with urlopen(request, timeout=30) as response:',
    ...pythonUse(hasJson, answerFile),
  ].join('\n');
}

function pythonUse(hasJson: boolean, answerFile: string | undefined): string[] {
  if (answerFile === undefined) {
    return [`    print(${hasJson ? 'json.load(response)' : 'response.status'})`];
  }
  return [`    with open("${answerFile}", "wb") as file:`, '        file.write(response.read())'];
}

/** Reads a list to its end; the first page has no cursor. */
function pythonPages({ url, query }: SampleRequest): string {
  return `query = ${literal({ limit: 100, ...query }, PYTHON, '')}
while True:
    url = os.environ["BASE_URL"] + "${url}?" + urlencode(query)
    with urlopen(Request(url, headers=headers), timeout=30) as response:
        page = json.load(response)
    for record in page["data"]:
        print(record)
    if page["nextCursor"] is None:
        break
    query["cursor"] = page["nextCursor"]`;
}
