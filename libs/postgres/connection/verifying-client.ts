/** A client of PostgreSQL that checks the server's certificate wherever it connects by TLS. */
import pg from 'pg';

/** With `sslmode=no-verify` in its URL alone it checks no certificate. */
export class VerifyingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const { ssl } = this as unknown as { ssl: boolean | { rejectUnauthorized?: boolean } };
    // Also when NODE_TLS_REJECT_UNAUTHORIZED is 0.
    if (typeof ssl === 'object') ssl.rejectUnauthorized ??= true;
  }
}
