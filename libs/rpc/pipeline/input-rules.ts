/** The rules that a request's proto states, checked on every call before the handler sees it. */
import { create, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import type { Path } from '@bufbuild/protobuf/reflect';
import { createValidator } from '@bufbuild/protovalidate';
import { invalid } from '../fault.ts';

/** One for the process: it keeps each message's compiled rules. */
const validator = createValidator();

/**
 * Compiles the rules of a message, so that no call pays for it.
 * Throws a CompilationError when the proto states a rule that cannot be.
 */
export function warmUpRules(schema: DescMessage): void {
  const result = validator.validate(schema, create(schema));
  if (result.kind === 'error') throw result.error;
}

/** Throws an `invalid` Fault that names each refused field. */
export function checkRules<D extends DescMessage>(schema: D, message: MessageShape<D>): void {
  const result = validator.validate(schema, message);
  if (result.kind === 'valid') return;
  if (result.kind === 'error') throw result.error;
  const fields = result.violations.map(({ field, message }) => ({
    pointer: pointerTo(field),
    message,
  }));
  throw invalid('invalid_request', 'the request breaks its rules', fields);
}

/** A JSON Pointer (RFC 6901) in the names that proto3 JSON gives the fields. */
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
