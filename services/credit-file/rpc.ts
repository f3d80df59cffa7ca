/** CreditFileService: translates between the messages of the contract and the use cases. */
import { CreditFileService } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { type EraseApplicantDeps, eraseApplicant } from './custody/erase-applicant.ts';
import { requireForcePermission } from './pulls/forced-pulls.ts';
import { pullMessage, sourceOf } from './pulls/pull.ts';
import { type RequestCreditFileDeps, requestCreditFile } from './pulls/request-credit-file.ts';
import { findReaders } from './reading/link-access.ts';
import { listPulls } from './reading/list-pulls.ts';
import { type ReadCreditFileDeps, readCreditFile } from './reading/read-credit-file.ts';
import { type ReadDocumentDeps, readDocument } from './reading/read-document.ts';
import { applicantCall } from './scope.ts';

/** The routes to mount. */
export function creditFileRoutes(
  deps: RequestCreditFileDeps & ReadCreditFileDeps & ReadDocumentDeps & EraseApplicantDeps,
): ServiceRoutes {
  return implement(CreditFileService, {
    requestCreditFile(request, call) {
      const { requestId: callerRequestId, force } = request;
      // Before the scope: the answer to a caller without the permission is the same for every applicant.
      if (force) requireForcePermission(call.identity);
      const source = sourceOf(request.source);
      const asked = { source, callerRequestId, force };
      return requestCreditFile(deps, applicantCall(request, call), asked);
    },

    async readCreditFile(request, call) {
      const { pull, ...file } = await readCreditFile(deps, applicantCall(request, call), request);
      return { pull: pullMessage(pull), ...file };
    },

    async listPulls(request, call) {
      const page = await listPulls(deps, applicantCall(request, call), request);
      return { pulls: page.items, nextCursor: page.nextCursor };
    },

    checkDocumentLink: (request) => findReaders(deps, linkOf(request)),

    async readDocument(request, call) {
      return { pdf: await readDocument(deps, linkOf(request), call) };
    },

    async eraseApplicant({ retailerId, applicantId }, call) {
      await eraseApplicant(deps, { retailerId, applicantId }, call);
      return {};
    },
  });
}

const linkOf = (request: { fileId: string; expiresAt: bigint; signature: string }) => ({
  fileId: request.fileId,
  expires: Number(request.expiresAt),
  signature: request.signature,
});
