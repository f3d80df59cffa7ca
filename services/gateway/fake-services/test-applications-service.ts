/** For tests: the applications service, as the gateway calls it. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type Applicant,
  ApplicationStatus,
  ApplicationType,
} from '@creditlane/proto/applications/v1/application';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { DirectoryService } from '@creditlane/proto/applications/v1/directory_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound } from '@creditlane/rpc/fault';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { newId } from '@creditlane/runtime/ids';
import { fakeConsentsService } from './test-consents-service.ts';
import { fakePlatformActs } from './test-platform-acts.ts';
import { recordingFake, type StoredApplication, type TestServices } from './test-services.ts';

/** What every application has, whichever fields a test gave it. */
export const COMPLETE = {
  type: ApplicationType.APPROVAL,
  status: ApplicationStatus.DRAFT,
  primaryApplicant: {
    applicantId: newId(),
    firstName: 'Maya',
    lastName: 'Tremblay',
    dateOfBirth: '1988-07-14',
  },
  createdAt: timestampFromDate(new Date('2026-02-01T10:00:00Z')),
};

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
    fakePlatformActs(services, 'applications'),
    recordingFake(services, ApplicationsService, {
      createApplication: async (request, call) => {
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
      getApplication: async (request, call) => ({ application: own(request.applicationId, call) }),
      submitApplication: async (request, call) => {
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
      listApplications: async (_request, call) => {
        const retailerId = requireRetailer(call);
        const own = [...services.applications.values()].filter(
          (it) => it.retailerId === retailerId,
        );
        return { applications: own.map(summaryOf), nextCursor: 'next' };
      },
      archiveApplication: async (request, call) => {
        const application = own(request.applicationId, call);
        return { application: { ...application, status: ApplicationStatus.ARCHIVED } };
      },
      exportApplication: async (request, call) => {
        own(request.applicationId, call);
        const { $typeName: _, lacksRecipient, ...ids } = request;
        if (lacksRecipient) throw notFound('integration_not_found', 'The export is for nobody.');
        const at = new Date('2026-02-01T12:00:00Z');
        return { exportId: newId(), ...ids, exportedAt: timestampFromDate(at) };
      },
      locateApplication: async (request) => {
        const { applicationId, contextRetailerId } = request;
        const { retailerId = '' } = services.applications.get(applicationId) ?? {};
        const group = services.groups.find((members) => members.includes(retailerId)) ?? [
          retailerId,
        ];
        return { retailerId, inContext: group.includes(contextRetailerId) };
      },
    }),
    fakeConsentsService(services),
    fakeDirectory(services),
  ];
}

function fakeDirectory(services: TestServices) {
  const ok = async () => ({});
  return recordingFake(services, DirectoryService, {
    registerRetailer: ok,
    registerRetailerGroup: ok,
    registerUser: ok,
    registerCreditor: ok,
    listUsers: async (_request, call) => {
      requireRetailer(call);
      return { users: services.users, nextCursor: '' };
    },
    getRetailers: async (request) => ({
      retailers: request.retailerIds.map((retailerId) => ({
        retailerId,
        name: services.retailers.get(retailerId) ?? '',
      })),
    }),
    getCreditors: async (request) => ({
      creditors: request.creditorIds.map((creditorId) => ({
        creditorId,
        name: services.creditors.get(creditorId) ?? '',
      })),
    }),
  });
}

function requireRetailer({ identity: { retailerId } }: Call): string {
  if (retailerId === undefined) throw notFound('retailer_not_found', 'there is no such retailer');
  return retailerId;
}

function summaryOf(application: StoredApplication) {
  const { applicationId = '', retailerId, referenceNumber = '' } = application;
  const { type, status, createdAt } = Object.assign(application, { ...COMPLETE, ...application });
  return { applicationId, retailerId, referenceNumber, type, status, createdAt };
}

function withId(applicant: Applicant) {
  const { $typeName: _, ...given } = applicant;
  return { ...given, applicantId: newId() };
}
