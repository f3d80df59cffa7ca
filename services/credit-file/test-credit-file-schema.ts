/** For tests: compares a credit file with its schema in the OpenAPI document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parse } from 'yaml';

const OPENAPI = join(import.meta.dirname, '../gateway/openapi');

type Schema = { type?: string; properties?: Record<string, Schema>; items?: Schema };

/** What of `file` the document does not describe; unknown fields included. */
export const findSchemaFaults: (file: unknown) => string[] = (() => {
  const read = (name: string) =>
    parse(readFileSync(join(OPENAPI, name), 'utf8')).components.schemas;
  const schemas: Record<string, Schema> = read('credit-files.yaml');
  for (const schema of Object.values(schemas)) close(schema);
  const { Province } = read('components.yaml');
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  formats.default(ajv, ['date']);
  ajv.addSchema({
    $id: 'https://creditlane.invalid/',
    components: { schemas: { ...schemas, Province } },
  });
  const validate = ajv.getSchema('https://creditlane.invalid/#/components/schemas/CreditFile');
  if (validate === undefined) throw new Error('the OpenAPI document has no schema CreditFile');
  return (file) => {
    validate(file);
    return (validate.errors ?? []).map((it) => `${it.instancePath} ${it.message}`);
  };
})();

function close(schema: Schema): void {
  if (schema.properties !== undefined) Object.assign(schema, { additionalProperties: false });
  for (const property of Object.values(schema.properties ?? {})) close(property);
  if (schema.items !== undefined) close(schema.items);
}
