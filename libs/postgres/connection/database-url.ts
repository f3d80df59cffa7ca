/** The URL of a database as an operator gives it, and how its connections are encrypted. */
import { refuse } from '@creditlane/runtime/env';
import { ALLOW_PLAINTEXT, isThisMachine } from '@creditlane/runtime/plaintext';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import { type Setting, setting, variablesOf } from '@creditlane/runtime/setting';

/** pg treats them as verify-full, warns of each of them, and announces that a later version will check less for them. */
const SAME_AS_VERIFY_FULL = ['prefer', 'require', 'verify-ca'];

/**
 * A setting that holds the URL of a database, which follows the variable's file. It refuses a text that is no URL, and an
 * unencrypted connection to another machine unless ALLOW_PLAINTEXT is set.
 */
export function databaseUrl(name: string, about: string): Setting<Renewed<string>> {
  const urlWhere = (allowPlaintext: boolean) =>
    setting.renewed(name, (text) => parseDatabaseUrl(text, allowPlaintext), {
      type: 'URL',
      secret: true,
      about,
    });
  return {
    variables: variablesOf({ url: urlWhere(false), ALLOW_PLAINTEXT }),
    read: (env) => urlWhere(ALLOW_PLAINTEXT.read(env)).read(env),
  };
}

/**
 * The URL for pg: with the mode verify-full in place of the modes that pg treats alike, so that the certificate of the server is
 * checked, and its name.
 */
function parseDatabaseUrl(text: string, allowPlaintext: boolean): string {
  if (!URL.canParse(text)) refuse('an absolute URL');
  const url = new URL(text);
  // Of a repeated parameter pg takes the last value, and so does this.
  const {
    sslmode = 'disable',
    host = decodeURIComponent(url.hostname),
    uselibpqcompat,
  } = Object.fromEntries(url.searchParams);
  // With every other mode pg ends a connection that the server does not encrypt.
  if (['', 'disable'].includes(sslmode) && !(allowPlaintext || isThisMachine(host))) {
    refuse('a URL with ?sslmode=verify-full, unless ALLOW_PLAINTEXT is true');
  }
  if (uselibpqcompat === 'true' || !SAME_AS_VERIFY_FULL.includes(sslmode)) return text;
  url.searchParams.set('sslmode', 'verify-full');
  return url.href;
}
