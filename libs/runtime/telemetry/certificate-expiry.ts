/** The metric of when the certificates of a process expire. */
import { X509Certificate } from 'node:crypto';
import type { Metrics } from './metrics.ts';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Exports when a certificate expires; `read` gives its PEM on each scrape. Of several authorities, the old and the new one
 * while they are replaced, the last to expire counts; of a chain, its first certificate.
 *
 * @param certificate what it is: a word of a closed list, which becomes a label
 */
export function observeCertificateExpiry(
  metrics: Metrics,
  certificate: string,
  read: () => Buffer | Promise<Buffer>,
): void {
  metrics.gauge(
    'tls_certificate_expires_timestamp_seconds',
    'When a certificate of this process expires, in seconds since the epoch.',
    ['certificate'],
    async (gauge) => {
      const found = String(await read()).match(PEM_CERTIFICATE) ?? [];
      const counted = certificate === 'authority' ? found : found.slice(0, 1);
      const ends = counted.map((pem) => new X509Certificate(pem).validToDate.getTime());
      gauge.set({ certificate }, Math.max(...ends) / 1_000);
    },
  );
}
