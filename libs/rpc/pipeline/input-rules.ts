/** The validation rules of a request's proto, checked on every call before the handler runs. */
import { create, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import type { Path } from '@bufbuild/protobuf/reflect';
import { createValidator } from '@bufbuild/protovalidate';
import { invalid } from '../fault.ts';

/** One validator for the process, because it caches the compiled rules of each message. */
const validator = createValidator();

/**
 * Compiles the rules of a message, so that the first call does not wait for the compilation.
 * Throws a CompilationError when a rule does not compile.
 */
export function warmUpRules(schema: DescMessage): void {
  const result = validator.validate(schema, create(schema));
  if (result.kind === 'error') throw result.error;
}

/** Throws an `invalid` Fault that names each field whose rule is broken. */
export function checkRules<D extends DescMessage>(schema: D, message: MessageShape<D>): void {
  const result = validator.validate(schema, message);
  if (result.kind === 'valid') return;
  if (result.kind === 'error') throw result.error;
  const fields = result.violations.map(({ field, message }) => ({
    pointer: pointerTo(field),
    message,
  }));
  throw invalid('invalid_request', 'the request is not valid', fields);
}

/** A JSON Pointer (RFC 6901) that uses the proto3 JSON names of the fields. */
function pointerTo(path: Path): string {
  return path.map((step) => `/${escaped(nameOf(step))}`).join('');
}

function nameOf(step: Path[number]): string {
  switch (step.kind) {
    case 'field':
      return step.jsonName;
    case 'oneof':
      return step.name;
    case 'list_sub':
      return String(step.index);
    case 'map_sub':
      return String(step.key);
    case 'extension':
      return step.typeName;
  }
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
