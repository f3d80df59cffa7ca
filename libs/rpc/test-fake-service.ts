/** For tests: a fake of a service that implements only the methods which a test needs. */
import type { DescService } from '@bufbuild/protobuf';
import { internal } from './fault.ts';
import { type AnyHandler, type Handlers, implement, type ServiceRoutes } from './service.ts';

/** As `implement`; a method without a handler throws an `internal` fault. */
export function fakeService<S extends DescService>(
  service: S,
  handlers: Partial<Handlers<S>>,
): ServiceRoutes {
  const given = handlers as Record<string, AnyHandler | undefined>;
  const all = service.methods.map(({ localName }) => {
    const handler: AnyHandler =
      given[localName] ??
      (async () => {
        throw internal(new Error(`the fake has no ${localName}`));
      });
    return [localName, handler];
  });
  return implement(service, Object.fromEntries(all) as Handlers<S>);
}
