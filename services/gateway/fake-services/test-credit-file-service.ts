/** For tests: the credit-file service, as the gateway calls it. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { BureauCredentialsService } from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import {
  CreditFileService,
  PullState,
  Source,
} from '@creditlane/proto/creditfile/v1/credit_file_service';
import type { Call } from '@creditlane/rpc/call';
import { forbidden, notFound } from '@creditlane/rpc/fault';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { newId } from '@creditlane/runtime/ids';
import { recordingFake, type TestServices } from './test-services.ts';

/** What the fake gives as the signature of each link. */
export const LINK_SIGNATURE = 'signature-of-the-link';
export const PDF = Buffer.from('%PDF-1.7 of the credit file');

const AT = timestampFromDate(new Date('2026-03-02T15:04:05.678Z'));

/** The contracts of the credit-file service. */
export function fakeCreditFileService(services: TestServices): ServiceRoutes[] {
  /** Throws the fault of an unknown applicant unless the call may see the applicant. */
  const requireOwn = (request: { applicationId: string; applicantId: string }, call: Call) => {
    const application = services.applications.get(request.applicationId);
    const { retailerId, primaryApplicant } = application ?? {};
    const isOwn = retailerId !== undefined && retailerId === call.identity.retailerId;
    if (!isOwn || primaryApplicant?.applicantId !== request.applicantId) {
      throw notFound(
        'applicant_not_found',
        'No application within your grants has this id and this applicant.',
      );
    }
  };
  return [
    recordingFake(services, CreditFileService, {
      requestCreditFile: async (request, call) => {
        requireOwn(request, call);
        const state = PullState.REQUESTED;
        const pull = { id: newId(), source: request.source, state, requestedAt: AT };
        services.creditFiles.set(request.applicantId, { pull });
        return { pull, isNew: request.requestId !== 'repeated' };
      },
      readCreditFile: async (request, call) => {
        requireOwn(request, call);
        const gate = request.waitMs > 0 ? services.gates.readCreditFile.pop() : undefined;
        await gate?.(call);
        const found = services.creditFiles.get(request.applicantId);
        if (found === undefined) {
          const message = 'No credit file of the applicant was requested.';
          throw notFound('credit_file_not_requested', message);
        }
        const { pull, file } = found;
        const isWithoutFile = request.readsAfterWait && !services.readsWaitAsBefore;
        if (gate !== undefined && isWithoutFile) return { pull, hasWaited: true };
        const documentPath = `/credit-files/${pull.id}/document?expires=1772464745&signature=${LINK_SIGNATURE}`;
        if (file === undefined) return { pull };
        return { pull, fileJson: JSON.stringify(file), documentPath };
      },
      listPulls: async (request, call) => {
        requireOwn(request, call);
        const found = services.creditFiles.get(request.applicantId);
        const consent = {
          consentId: newId(),
          purpose: 'CREDIT_APPLICATION',
          textVersion: '2026-01',
          capturedAt: AT,
          expiresAt: AT,
        };
        const evidence = {
          requestedBy: call.identity.subject,
          retailerId: call.identity.retailerId ?? '',
          requestId: 'order-7781',
          callerRequestId: 'deal-7781',
          consent,
          sentAt: AT,
          hitType: 'HIT',
        };
        return {
          pulls: found === undefined ? [] : [{ pull: found.pull, ...evidence }],
          nextCursor: 'next',
        };
      },
      eraseApplicant: async (request) => {
        services.creditFiles.delete(request.applicantId);
        return {};
      },
      checkDocumentLink: async (request) => {
        requireSignature(request);
        return services.linkReaders;
      },
      readDocument: async (request, call) => {
        requireSignature(request);
        await services.gates.readDocument.pop()?.(call);
        return { pdf: PDF };
      },
    }),
    fakeBureauCredentials(services),
  ];
}

function requireSignature({ signature }: { signature: string }): void {
  if (signature !== LINK_SIGNATURE) throw forbidden('link_invalid', 'This link is not valid.');
}

function fakeBureauCredentials(services: TestServices) {
  const sourceOf = (name: string | undefined) =>
    name === 'transunion' ? Source.TRANSUNION : Source.EQUIFAX;
  return recordingFake(services, BureauCredentialsService, {
    setBureauCredentials: async (request) => {
      const source = sourceOf(request.credentials.case);
      const { customerNumber, memberCode, baseUrl } = request.credentials.value as {
        customerNumber?: string;
        memberCode?: string;
        baseUrl: string;
      };
      const member = customerNumber ?? memberCode ?? '';
      const others = services.bureauCredentials.filter((it) => it.source !== source);
      services.bureauCredentials = [...others, { source, member, baseUrl, setAt: AT }];
      return {};
    },
    listBureauCredentials: async () => ({ credentials: services.bureauCredentials }),
    removeBureauCredentials: async (request) => {
      const { source } = request;
      services.bureauCredentials = services.bureauCredentials.filter((it) => it.source !== source);
      return {};
    },
  });
}
