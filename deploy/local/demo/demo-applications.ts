// The demo's further applications: one that takes no comments because it was never submitted, and an archived one.
import { ApiCaller } from './api-caller.ts';
import {
  type ApiAccess,
  type DemoApplications,
  makeApplication,
  makeSubmission,
  type Submitter,
} from './demo.ts';

/** Makes two applications of the submitter's retailer. The submission of the second is an event like any other. */
export async function makeDemoApplications(
  { baseUrl }: ApiAccess,
  { key, retailerId, ...submitter }: Submitter,
): Promise<DemoApplications> {
  const integration = new ApiCaller(baseUrl, key);
  const create = () => integration.post('/applications', makeApplication(retailerId));
  const draft = await create();
  const archived = await create();
  const path = `/applications/${archived.applicationId}`;
  const { applicantId } = archived.primaryApplicant;
  await integration.post(`${path}/submit`, makeSubmission({ ...submitter, applicantId }));
  await integration.post(`${path}/archive`);
  return { draft: draft.applicationId, archived: archived.applicationId };
}
