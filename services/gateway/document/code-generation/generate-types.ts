/**
 * Generates the TypeScript code of the OpenAPI document: the types and tables of libs/client, whose types the
 * gateway's handlers are checked against, and the list of query parameters with a default. A client may leave
 * these out, and a handler always gets them. Part of `npm run generate`. With an argument, writes the same
 * files below that folder instead of the repository.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { type OpenApiDocument, openApiDocument } from '../openapi-document.ts';
import { type Operation, operationsOf } from '../operation.ts';
import { clientTables } from './client-tables.ts';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));
const [, , folder = REPOSITORY] = process.argv;
const HEADER = '// Generated from services/gateway/openapi by npm run generate. Do not edit.\n\n';

const document = openApiDocument();
write('services/gateway/gen/query-defaults.ts', queryDefaults(operationsOf(document)));
write('libs/client/gen/openapi.ts', await typesOf(document));
write('libs/client/gen/tables.ts', clientTables(document));

async function typesOf(described: OpenApiDocument): Promise<string> {
  const types = await openapiTS(described as OpenApiDocument & OpenAPI3, {
    exportType: true,
    // The validator fills in the defaults of parameters and leaves bodies as they came.
    defaultNonNullable: false,
    silent: true,
  });
  return astToString(types);
}

/** The names of the parameters that the validator fills in, by operationId, as a type. */
function queryDefaults(operations: readonly Operation[]): string {
  const lines = operations.flatMap(({ id, parameters }) => {
    const filledIn = parameters.filter(({ schema }) => 'default' in schema);
    const other = filledIn.find((parameter) => parameter.in !== 'query');
    if (other !== undefined)
      throw new Error(`${id} has a default outside the query: ${other.name}`);
    const names = filledIn.map(({ name }) => `'${name}'`).join(' | ');
    return names === '' ? [] : [`  ${id}: ${names};\n`];
  });
  const about = '/** The query parameters with a default, by operationId. */';
  return `${about}\nexport interface QueryDefaults {\n${lines.join('')}}\n`;
}

function write(path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, HEADER + text);
}
