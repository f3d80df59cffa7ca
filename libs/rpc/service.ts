/** A service's methods and their handlers, ready to be mounted in memory, over gRPC or over HTTP. */
import type {
  DescMessage,
  DescMethod,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import type { Call } from './call.ts';

/** One handler for each method, under the method's name in the generated code. */
export type Handlers<S extends DescService> = {
  [Name in keyof S['method']]: S['method'][Name] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, call: Call) => Promise<MessageInitShape<O>>
    : never;
};

/** A handler of any method: its message types are known at run time only. */
export type AnyHandler = (request: never, call: Call) => Promise<MessageInitShape<DescMessage>>;

/** A method and its handler. */
export type Route = { readonly method: DescMethodUnary; readonly handler: AnyHandler };

/** The argument of `mountInMemory`, `startGrpcServer` and `startHttpServer`. */
export type ServiceRoutes = { readonly service: DescService; readonly routes: readonly Route[] };

/**
 * Binds handlers to the methods of a service.
 * Throws an Error for a missing handler and for a streaming method, which no mount supports.
 */
export function implement<S extends DescService>(service: S, handlers: Handlers<S>): ServiceRoutes {
  const byName = handlers as Record<string, AnyHandler | undefined>;
  const routes = service.methods.map((method): Route => {
    const handler = byName[method.localName];
    if (handler === undefined) throw new Error(`${qualifiedName(method)} has no handler`);
    return { method: requireUnary(method), handler: handler.bind(handlers) };
  });
  return { service, routes };
}

/** The same method, typed as unary. Throws an Error for a streaming method. */
export function requireUnary(method: DescMethod): DescMethodUnary {
  if (method.methodKind === 'unary') return method as DescMethodUnary;
  throw new Error(`${qualifiedName(method)} is not unary`);
}

/** "package.Service/Method"; after a slash, the path of the method over gRPC and Connect. */
export function qualifiedName({ parent, name }: DescMethod): string {
  return `${parent.typeName}/${name}`;
}
