/** The applications service as the dispatcher sees it, for tests: the payloads of exports. */
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { notFound, unavailable } from '@creditlane/rpc/fault';
import { TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import { createTestProcess } from '@creditlane/runtime/test-process';

/** Accepts tokens that the dispatcher signs with the private key of `dispatcherKey`. */
export function createTestApplications(dispatcherKey: string) {
  /** By export, its payload, or the code of the fault that the service answers. */
  const exports = new Map<string, object | string>();
  /** `asked`: how often a payload was asked for, and `askedWithSin`: the last time with SINs. `answering`: answers wait for it. */
  const state = {
    ...{ isUnavailable: false, asked: 0, askedWithSin: false },
    answering: Promise.resolve(),
  };
  const routes = fakeService(ApplicationsService, {
    getExport: async ({ exportId, withSin }) => {
      state.asked += 1;
      state.askedWithSin = withSin;
      await state.answering;
      if (state.isUnavailable) throw unavailable('unavailable for the test');
      const found = exports.get(exportId) ?? 'export_deleted';
      if (typeof found === 'string') throw notFound(found, 'lost for the test');
      return { payloadJson: JSON.stringify(found) };
    },
  });
  const { log, metrics, closers } = createTestProcess('applications');
  const trusted = { 'webhook-dispatcher': dispatcherKey };
  const verifier = new TokenVerifier({ audience: 'applications', trusted });
  const unary = mountInMemory([routes], { verifier, log, metrics });
  return {
    exports,
    state,
    endpoint: { kind: 'memory', unary } as const,
    close: () => closers.close(),
  };
}
