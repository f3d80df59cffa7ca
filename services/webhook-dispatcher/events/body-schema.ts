/** The JSON schemas of webhook bodies. A body is serialized and checked once, before it is sent. */
import type { AnySchema } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** A serialized body, checked against its schema. */
export interface RenderedBody {
  readonly body: string;
  /** How the body violates its schema, so that it must not be sent; `undefined` when it matches. */
  readonly mismatch: string | undefined;
}

/** Serializes a payload of one event type, and checks it against the JSON schema. */
export type RenderBody = (payload: object) => RenderedBody;

/** Compiles JSON Schema 2020-12 schemas that may refer to the `shared` ones by their `$id`. */
export function createSchemaCompiler(shared: AnySchema[] = []): (schema: AnySchema) => RenderBody {
  const ajv = new Ajv2020({ schemas: shared, strict: true, strictRequired: false });
  addFormats.default(ajv, ['uuid', 'date', 'email']);
  return (schema) => {
    const isValid = ajv.compile(schema);
    return (payload) => {
      const body = JSON.stringify(payload);
      // The check is of the payload that the receiver parses, which has no undefined members.
      if (isValid(JSON.parse(body))) return { body, mismatch: undefined };
      const faults = (isValid.errors ?? []).map((error) =>
        `${error.instancePath} ${error.message}`.trim(),
      );
      return { body, mismatch: `payload_unfit: ${faults.join('; ')}` };
    };
  };
}
