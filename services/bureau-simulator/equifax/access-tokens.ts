/** Equifax Canada's token endpoint: RFC 6749, client credentials grant. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerJson } from '@creditlane/runtime/http/development-server';
import { type EquifaxAccount, isKnownAccount } from '../accounts.ts';

/** Limits the memory: a later token displaces the oldest. */
const MAX_TOKENS = 1_000;
const LIFETIME_S = 1_800;

export class AccessTokens {
  readonly #accounts: readonly EquifaxAccount[];
  /** When each token ends, in ms. */
  readonly #ends = new Map<string, number>();

  /** Tokens are for the clients of these accounts. */
  constructor(accounts: readonly EquifaxAccount[]) {
    this.#accounts = accounts;
  }

  /** Answers a request for a token. */
  answer(request: IncomingMessage, form: URLSearchParams, response: ServerResponse): void {
    const error = this.#findError(request, form);
    if (error === 'invalid_client') {
      response.setHeader('www-authenticate', 'Basic realm="bureau simulator"');
      answerJson(response, 401, { error });
    } else if (error !== undefined) answerJson(response, 400, { error });
    else {
      answerJson(response, 200, {
        access_token: this.#makeToken(),
        token_type: 'Bearer',
        expires_in: LIFETIME_S,
        scope: form.get('scope'),
      });
    }
  }

  /** Whether a request has a token that has not ended. */
  permits(request: IncomingMessage): boolean {
    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    return (this.#ends.get(token) ?? 0) > Date.now();
  }

  /** Ends every token, as when the bureau has restarted. */
  endAll(): void {
    this.#ends.clear();
  }

  #findError(request: IncomingMessage, form: URLSearchParams): string | undefined {
    const client = readBasic(request.headers.authorization);
    if (client === undefined || !isKnownAccount(this.#accounts, client)) {
      return 'invalid_client';
    }
    if (form.get('grant_type') !== 'client_credentials') return 'unsupported_grant_type';
    return (form.get('scope') ?? '').trim() === '' ? 'invalid_scope' : undefined;
  }

  #makeToken(): string {
    const token = randomBytes(32).toString('base64url');
    this.#ends.set(token, Date.now() + LIFETIME_S * 1_000);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > MAX_TOKENS && oldest !== undefined) this.#ends.delete(oldest);
    return token;
  }
}

/** The client of the header, whose two parts are encoded as in a form (RFC 6749, 2.3.1). */
function readBasic(header: string | undefined) {
  const encoded = /^Basic (\S+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  // As the value of a form field, so that `+` and `%` are decoded.
  const decode = (text: string) => new URLSearchParams(`value=${text}`).get('value') ?? '';
  return {
    clientId: decode(pair.slice(0, colon)),
    clientSecret: decode(pair.slice(colon + 1)),
  };
}
