/** The retailers that the simulated bureaus know, by their credentials. */
import { createHash, timingSafeEqual } from 'node:crypto';

export interface EquifaxAccount {
  customerCode: string;
  /** The member number. */
  customerNumber: string;
  securityCode: string;
  /** Of the transport with access tokens. */
  clientId: string;
  clientSecret: string;
}

export interface TransUnionAccount {
  memberCode: string;
  password: string;
}

export interface Accounts {
  equifax: readonly EquifaxAccount[];
  transUnion: readonly TransUnionAccount[];
}

/** Two retailers with accounts at both bureaus, in the order of the demo's tenants. */
export const DEMO_ACCOUNTS: Accounts = {
  equifax: [
    {
      customerCode: 'S101',
      customerNumber: '999ZB10001',
      securityCode: 'simulator-1',
      clientId: 'simulator-client-1',
      clientSecret: 'simulator-secret-1',
    },
    {
      customerCode: 'S102',
      customerNumber: '999ZB10002',
      securityCode: 'simulator-2',
      clientId: 'simulator-client-2',
      clientSecret: 'simulator-secret-2',
    },
  ],
  transUnion: [
    { memberCode: '975ZZ10001', password: 'simulator-1' },
    { memberCode: '975ZZ10002', password: 'simulator-2' },
  ],
};

/** Whether some account has all of these values. */
export function isKnownAccount<Account extends object>(
  accounts: readonly Account[],
  values: { [Key in keyof Account]?: string },
): boolean {
  const entries = Object.entries(values) as [keyof Account, string][];
  return accounts.some((account) =>
    entries.every(([key, value]) => isSame(String(account[key]), value)),
  );
}

function isSame(expected: string, value: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(expected), digest(value));
}
