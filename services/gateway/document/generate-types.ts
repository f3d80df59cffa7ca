/**
 * Generates gen/openapi.ts, the TypeScript types of the OpenAPI document; part of `npm run generate`.
 * With an argument, writes to that file instead.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { loadOpenApiDocument, type OpenApiDocument } from './openapi-document.ts';
import { operationsOf } from './operation.ts';

const [, , file = fileURLToPath(new URL('../gen/openapi.ts', import.meta.url))] = process.argv;
const HEADER = '// Generated from services/gateway/openapi by npm run generate. Do not edit.\n\n';

const document = loadOpenApiDocument();
for (const { parameters } of operationsOf(document)) {
  // A parameter with a default always has a value when the handler reads it.
  for (const parameter of parameters) {
    if ('default' in parameter.schema) parameter.required = true;
  }
}
const types = await openapiTS(document as OpenApiDocument & OpenAPI3, {
  exportType: true,
  // The validator fills in the defaults of parameters and leaves bodies as they came.
  defaultNonNullable: false,
  silent: true,
});
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, HEADER + astToString(types));
