/** Services mounted in this process: calls reach their procedures without a socket. */
import {
  create,
  type DescMethod,
  fromBinary,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { REPLAYED } from '../call.ts';
import { resourceExhausted } from '../fault.ts';
import { createProcedures, type Procedure, type ProcedureDeps } from '../procedure/procedure.ts';
import { DEFAULT_MAX_REQUEST_BYTES } from '../server-options.ts';
import { qualifiedName, type ServiceRoutes } from '../service.ts';
import type { UnaryCall } from '../transport.ts';

export type MemoryOptions = ProcedureDeps & { maxMessageBytes?: number };

/**
 * Returns the function that makes calls to these services. Requests and answers are encoded and decoded as over a
 * network, so that caller and service share no object and the size limit holds.
 */
export function mountInMemory(
  routes: readonly ServiceRoutes[],
  { maxMessageBytes = DEFAULT_MAX_REQUEST_BYTES, ...deps }: MemoryOptions,
): UnaryCall {
  const procedures = new Map<DescMethod, Procedure>(
    createProcedures(routes, deps).map((procedure) => [procedure.method, procedure]),
  );

  return async (method, callerSignal, timeoutMs, header, input) => {
    const procedure = procedures.get(method);
    if (procedure === undefined) throw unimplemented(method);
    const bytes = toBinary(method.input, create(method.input, input));
    const admitted = await procedure.admit({
      metadata: (name) => header[name],
      timeoutMs,
      callerSignal,
    });
    const answer = await procedure.answer(
      admitted,
      () => {
        if (bytes.length > maxMessageBytes) throw tooLarge(bytes.length, maxMessageBytes);
        return fromBinary(method.input, bytes);
      },
      (message) => toBinary(method.output, message as MessageShape<typeof method.output>),
    );
    return {
      header: new Headers(answer.replayed ? { [REPLAYED]: 'true' } : undefined),
      message: fromBinary(method.output, answer.value),
    };
  };
}

function unimplemented(method: DescMethod): ConnectError {
  return new ConnectError(`${qualifiedName(method)} is not mounted here`, Code.Unimplemented);
}

function tooLarge(bytes: number, maxBytes: number) {
  return resourceExhausted(
    'resource_exhausted',
    `the message has ${bytes} bytes; ${maxBytes} are allowed`,
  );
}
