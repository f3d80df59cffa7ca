/** For the tests: the links to the PDFs of credit files, as the gateway opens them. */
import { serviceIdentity } from '@creditlane/rpc/identity';
import { readEnded, request, type useApplicant } from './test-credit-file.ts';

export const AS_GATEWAY = { identity: serviceIdentity('gateway') };

export interface Link {
  fileId: string;
  expiresAt: bigint;
  signature: string;
}

/** The link that a read of the applicant's file gives, which is pulled before. */
export async function giveLink({
  service,
  applicant,
}: ReturnType<typeof useApplicant>): Promise<Link> {
  await request(service, applicant);
  return linkIn((await readEnded(service, applicant)).documentPath);
}

export function linkIn(path: string): Link {
  const { pathname, searchParams } = new URL(path, 'https://api.example.com');
  const [, fileId = ''] = /^\/credit-files\/([^/]+)\/document$/.exec(pathname) ?? [];
  const expiresAt = BigInt(searchParams.get('expires') ?? 0);
  return { fileId, expiresAt, signature: searchParams.get('signature') ?? '' };
}
