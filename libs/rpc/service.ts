/** What a service answers: one handler for each method of its proto, ready for any mount. */
import type {
  DescMessage,
  DescMethod,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import type { Call } from './call.ts';

/** One handler per method, each by the method's name in the generated code; none may be missing. */
export type Handlers<S extends DescService> = {
  [Name in keyof S['method']]: S['method'][Name] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, call: Call) => Promise<MessageInitShape<O>>
    : never;
};

/** A handler whose method, and so its types, are known only at run time. */
export type AnyHandler = (request: never, call: Call) => Promise<MessageInitShape<DescMessage>>;

/** A method and what answers it. */
export type Route = { readonly method: DescMethodUnary; readonly handler: AnyHandler };

/** A service's methods with their handlers, to be given to `mountInMemory`, `startHttpServer` or `startGrpcServer`. */
export type ServiceRoutes = { readonly service: DescService; readonly routes: readonly Route[] };

/**
 * Binds handlers to a service's proto.
 * Throws an Error for a streaming method (no mount carries one) and for a missing handler.
 */
export function implement<S extends DescService>(service: S, handlers: Handlers<S>): ServiceRoutes {
  const byName = handlers as Record<string, AnyHandler | undefined>;
  const routes = service.methods.map((method): Route => {
    const name = `${service.typeName}/${method.name}`;
    const handler = byName[method.localName];
    if (handler === undefined) throw new Error(`${name} has no handler`);
    return { method: unary(method), handler: handler.bind(handlers) };
  });
  return { service, routes };
}

/** The method, known to be unary. Throws an Error when it streams: no mount carries that. */
export function unary(method: DescMethod): DescMethodUnary {
  if (method.methodKind === 'unary') return method as DescMethodUnary;
  throw new Error(`${method.parent.typeName}/${method.name} is not unary`);
}
