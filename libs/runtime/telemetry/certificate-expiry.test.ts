import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TestCertificateAuthority } from '../testing/test-certificate-authority.ts';
import { observeCertificateExpiry } from './certificate-expiry.ts';
import { Metrics } from './metrics.ts';

test('of a chain the first certificate counts, of several authorities the last to expire', async () => {
  const { cert, ca } = new TestCertificateAuthority().issue();
  const [day, twoDays] = [cert, ca].map((file) => readFileSync(file, 'utf8'));
  const metrics = new Metrics();
  observeCertificateExpiry(metrics, 'service', () => Buffer.from(`${day}${twoDays}`));
  observeCertificateExpiry(metrics, 'authority', async () => Buffer.from(`${day}${twoDays}`));
  const expiryOf = (pem = '') => new X509Certificate(pem).validToDate.getTime() / 1_000;
  const text = await metrics.text();
  expect(text).toContain(`{certificate="service"} ${expiryOf(day)}`);
  expect(text).toContain(`{certificate="authority"} ${expiryOf(twoDays)}`);
});
