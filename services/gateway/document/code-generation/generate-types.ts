/**
 * Generates the TypeScript code of the OpenAPI document: the types that the gateway's handlers are checked
 * against, and the types and tables of libs/client. Part of `npm run generate`. With an argument, writes the
 * same files below that folder instead of the repository.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { loadOpenApiDocument, type OpenApiDocument } from '../openapi-document.ts';
import { operationsOf } from '../operation.ts';
import { clientTables } from './client-tables.ts';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));
const [, , folder = REPOSITORY] = process.argv;
const HEADER = '// Generated from services/gateway/openapi by npm run generate. Do not edit.\n\n';

const document = loadOpenApiDocument();
const asHandled = loadOpenApiDocument();
for (const { parameters } of operationsOf(asHandled)) {
  // A parameter with a default always has a value when the handler reads it; a client may leave it out.
  for (const parameter of parameters) {
    if ('default' in parameter.schema) parameter.required = true;
  }
}
write('services/gateway/gen/openapi.ts', await typesOf(asHandled));
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

function write(path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, HEADER + text);
}
