/** For tests: the applications service, as the gateway calls it. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { DirectoryService } from '@creditlane/proto/applications/v1/directory_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound } from '@creditlane/rpc/fault';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import { newId } from '@creditlane/runtime/ids';
import { COMPLETE, type StoredApplication, summaryOf, withId } from './test-application-records.ts';
import { fakeConsentsService } from './test-consents-service.ts';
import type { TestServices } from './test-services.ts';

/** The contracts of the applications service. */
export function fakeApplicationsService(services: TestServices): ServiceRoutes[] {
  const own = (id: string, { identity }: Call) => {
    const application = services.applications.get(id);
    if (application === undefined || application.retailerId !== identity.retailerId) {
      throw notFound('application_not_found', 'there is no such application');
    }
    return Object.assign(application, { ...COMPLETE, ...application });
  };
  return [
    fakeService(ApplicationsService, {
      createApplication: async (request, call) => {
        services.record('createApplication', request, call);
        if (request.retailerId !== call.identity.retailerId) {
          throw notFound('retailer_not_found', 'there is no such retailer');
        }
        const { $typeName: _, primaryApplicant, coApplicant, ...given } = request;
        const application: StoredApplication = {
          ...COMPLETE,
          ...given,
          ...(primaryApplicant && { primaryApplicant: withId(primaryApplicant) }),
          ...(coApplicant && { coApplicant: withId(coApplicant) }),
          applicationId: newId(),
        };
        services.applications.set(application.applicationId ?? '', application);
        return { application };
      },
      getApplication: async (request, call) => {
        services.record('getApplication', request, call);
        return { application: own(request.applicationId, call) };
      },
      submitApplication: async (request, call) => {
        services.record('submitApplication', request, call);
        const application = own(request.applicationId, call);
        const submittedAt = timestampFromDate(new Date('2026-02-01T11:00:00Z'));
        const { worksheet } = request;
        application.submissions = request.creditorIds.map((creditorId) => ({
          creditorId,
          submittedAt,
          ...(worksheet && { worksheet }),
        }));
        application.status = ApplicationStatus.SUBMITTED;
        return { application };
      },
      listApplications: async (request, call) => {
        services.record('listApplications', request, call);
        const retailerId = requireRetailer(call);
        const own = [...services.applications.values()].filter(
          (it) => it.retailerId === retailerId,
        );
        return { applications: own.map(summaryOf), nextCursor: 'next' };
      },
      archiveApplication: async (request, call) => {
        services.record('archiveApplication', request, call);
        const application = own(request.applicationId, call);
        return { application: { ...application, status: ApplicationStatus.ARCHIVED } };
      },
      exportApplication: async (request, call) => {
        services.record('exportApplication', request, call);
        own(request.applicationId, call);
        if (call.idempotency?.key === 'replayed') call.markReplayed();
        const { $typeName: _, lacksRecipient, ...ids } = request;
        if (lacksRecipient) throw notFound('integration_not_found', 'The export is for nobody.');
        const at = new Date('2026-02-01T12:00:00Z');
        return { exportId: newId(), ...ids, exportedAt: timestampFromDate(at) };
      },
      locateApplication: async (request, call) => {
        services.record('locateApplication', request, call);
        const { applicationId, contextRetailerId } = request;
        const { retailerId = '' } = services.applications.get(applicationId) ?? {};
        const group = services.groups.find((members) => members.includes(retailerId)) ?? [
          retailerId,
        ];
        return { retailerId, inContext: group.includes(contextRetailerId) };
      },
      getSubmission: async () => ({}),
    }),
    fakeConsentsService(services),
    fakeDirectory(services),
  ];
}

function fakeDirectory(services: TestServices) {
  const ok = (method: string) => async (request: object, call: Call) => {
    services.record(method, request, call);
    return {};
  };
  return fakeService(DirectoryService, {
    registerRetailer: ok('registerRetailer'),
    registerRetailerGroup: ok('registerRetailerGroup'),
    registerUser: ok('registerUser'),
    registerCreditor: ok('registerCreditor'),
    listUsers: async (request, call) => {
      services.record('listUsers', request, call);
      requireRetailer(call);
      return { users: services.users, nextCursor: '' };
    },
    getRetailers: async (request, call) => {
      services.record('getRetailers', request, call);
      return {
        retailers: request.retailerIds.map((retailerId) => ({
          retailerId,
          name: services.retailers.get(retailerId) ?? '',
        })),
      };
    },
    getCreditors: async (request, call) => {
      services.record('getCreditors', request, call);
      return {
        creditors: request.creditorIds.map((creditorId) => ({
          creditorId,
          name: services.creditors.get(creditorId) ?? '',
        })),
      };
    },
  });
}

function requireRetailer({ identity: { retailerId } }: Call): string {
  if (retailerId === undefined) throw notFound('retailer_not_found', 'there is no such retailer');
  return retailerId;
}
