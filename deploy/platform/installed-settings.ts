/** What an installation by compose.yaml or by the Helm chart has unless it says otherwise. */
export const INSTALLED_SETTINGS = {
  // The service does not start with TransUnion and without a template, which only the operator can have.
  BUREAUS: 'EQUIFAX',
} as const satisfies Readonly<Record<string, string>>;
