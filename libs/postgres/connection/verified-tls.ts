/** The modes of TLS in the URL of a database. */

/** pg treats them as verify-full, warns of each of them, and announces that a later version will check less for them. */
const SAME_AS_VERIFY_FULL = ['prefer', 'require', 'verify-ca'];

/** The URL with the mode verify-full in place of the modes that pg treats alike: the certificate of the server is checked, and its name. */
export function withVerifiedTls(url: string): string {
  const changed = new URL(url);
  const { searchParams } = changed;
  const isLibpqs = searchParams.get('uselibpqcompat') === 'true';
  if (isLibpqs || !SAME_AS_VERIFY_FULL.includes(searchParams.get('sslmode') ?? '')) return url;
  searchParams.set('sslmode', 'verify-full');
  return changed.href;
}
