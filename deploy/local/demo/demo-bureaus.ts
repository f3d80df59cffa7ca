// The demo's credit bureaus: the retailers' credentials with the simulator, and an applicant with a full file.
import { DEMO_ACCOUNTS } from '@creditlane/bureau-simulator/accounts';
import type { BureauSimulator } from '@creditlane/bureau-simulator/bureau-simulator';
import { ApiCaller } from './api-caller.ts';
import { type ApiAccess, type DemoApplicant, makeApplication } from './demo.ts';

/** Equifax's transports: of the first tenant's retailer, and of the second's. */
const TRANSPORTS = ['OAUTH', 'SOAP'];

/** Gives each retailer an account of the simulated bureaus. */
export async function setDemoCredentials(
  { baseUrl, platformKey }: ApiAccess,
  simulator: Pick<BureauSimulator, 'equifaxUrl' | 'transUnionUrl'>,
  retailerIds: readonly string[],
): Promise<void> {
  const platform = new ApiCaller(baseUrl, platformKey);
  for (const [index, retailerId] of retailerIds.entries()) {
    const path = `/platform/retailers/${retailerId}/bureau-credentials`;
    const { clientId, clientSecret, ...equifax } = accountAt(DEMO_ACCOUNTS.equifax, index);
    const transport = TRANSPORTS[index % TRANSPORTS.length];
    await platform.put(`${path}/EQUIFAX`, {
      ...equifax,
      ...(transport === 'OAUTH' && { clientId, clientSecret }),
      transport,
      baseUrl: simulator.equifaxUrl,
    });
    const transUnion = accountAt(DEMO_ACCOUNTS.transUnion, index);
    await platform.put(`${path}/TRANSUNION`, { ...transUnion, baseUrl: simulator.transUnionUrl });
  }
}

function accountAt<Account>(accounts: readonly Account[], index: number): Account {
  const account = accounts[index % accounts.length];
  if (account === undefined) throw new Error('the simulator has no accounts');
  return account;
}

/** A persona with a full file. */
const COMPLETE = { firstName: 'Carla', lastName: 'Complete' };

/** Creates an application of a persona who has consented to inquiries. */
export async function makeDemoApplicant(
  { baseUrl }: ApiAccess,
  { key, retailerId, retailerUserId }: { key: string; retailerId: string; retailerUserId: string },
  { firstName, lastName }: { firstName: string; lastName: string } = COMPLETE,
): Promise<DemoApplicant> {
  const integration = new ApiCaller(baseUrl, key);
  const { primaryApplicant, ...application } = makeApplication(retailerId);
  const persona = { ...primaryApplicant, firstName, lastName };
  const created = await integration.post('/applications', {
    ...application,
    primaryApplicant: persona,
  });
  const { applicationId } = created;
  const { applicantId } = created.primaryApplicant;
  await integration.post(`/applications/${applicationId}/applicants/${applicantId}/consents`, {
    purpose: 'CREDIT_APPLICATION',
    textVersion: 'demo',
    capturedBy: retailerUserId,
  });
  return { applicationId, applicantId };
}
