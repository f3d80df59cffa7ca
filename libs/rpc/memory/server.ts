/** Services mounted in this process: calls go through the pipeline without a socket. */
import {
  create,
  type DescMethod,
  fromBinary,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { type Metadata, REPLAYED } from '../call.ts';
import { resourceExhausted } from '../fault.ts';
import { type Procedure, type ProcedureDeps, proceduresOf } from '../pipeline/pipeline.ts';
import { DEFAULT_MAX_MESSAGE_BYTES } from '../server-options.ts';
import type { ServiceRoutes } from '../service.ts';
import { type UnaryCall, unaryTransport } from '../unary-transport.ts';

export type MemoryOptions = ProcedureDeps & { readMaxBytes?: number };

/**
 * A transport straight to these services. Requests and answers still pass as bytes, so that nothing
 * is shared between caller and service and the size limit holds as it does over a socket.
 */
export function mountInMemory(
  routes: readonly ServiceRoutes[],
  { readMaxBytes = DEFAULT_MAX_MESSAGE_BYTES, ...around }: MemoryOptions,
): Transport {
  const procedures = new Map<DescMethod, Procedure>(
    proceduresOf(routes, around).map((procedure) => [procedure.method, procedure]),
  );

  return unaryTransport(async (method, givenUp, timeoutMs, header, input) => {
    const procedure = procedures.get(method);
    if (procedure === undefined) throw unimplemented(method);
    const bytes = toBinary(method.input, create(method.input, input));
    const incoming = { metadata: metadataOf(header), timeoutMs, givenUp };
    const admitted = await procedure.admit(incoming);
    const answer = await procedure.answer(
      admitted,
      () => {
        if (bytes.length > readMaxBytes) throw tooLarge(bytes.length, readMaxBytes);
        return fromBinary(method.input, bytes);
      },
      (message) => toBinary(method.output, message as MessageShape<typeof method.output>),
    );
    return {
      stream: false,
      service: method.parent,
      method,
      header: new Headers(answer.replayed ? { [REPLAYED]: 'true' } : undefined),
      trailer: new Headers(),
      message: fromBinary(method.output, answer.value),
    };
  });
}

/** Our own client gives a plain record, which is read without making Headers of it. */
function metadataOf(header: Parameters<UnaryCall>[3]): Metadata {
  if (header === undefined) return () => undefined;
  if (header instanceof Headers || Array.isArray(header)) {
    const headers = new Headers(header);
    return (name) => headers.get(name);
  }
  const record = header as Record<string, string | undefined>;
  return (name) => record[name];
}

function unimplemented(method: DescMethod): ConnectError {
  return new ConnectError(
    `${method.parent.typeName}/${method.name} is not mounted here`,
    Code.Unimplemented,
  );
}

function tooLarge(bytes: number, maxBytes: number) {
  return resourceExhausted(
    'resource_exhausted',
    `the message has ${bytes} bytes, of ${maxBytes} allowed`,
  );
}
