import { verifyWebhook } from '@creditlane/client/webhooks';
import { cpuMsOf, expectAtMost, mediansInTurns } from '@creditlane/runtime/test-measures';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';

/** The two cost about the same. */
const MAX_RATIO = 5;
const BYTES = 512 * 1024;
const SECRET = `whsec_${Buffer.alloc(32, 'x').toString('base64')}`;

test('refusing a body of 512 KiB that nobody signed costs less CPU than verifying five signed ones', async () => {
  const now = Date.parse('2026-03-02T15:00:00Z');
  const text = JSON.stringify('x'.repeat(BYTES));
  const headers = {
    'webhook-id': 'msg-1',
    'webhook-timestamp': String(now / 1_000),
    'webhook-signature': new Webhook(SECRET).sign('msg-1', new Date(now), text),
  };
  const verify = (body: string | Uint8Array) =>
    verifyWebhook({ body, headers, secrets: SECRET, now });
  const unsigned = new Uint8Array(BYTES);
  const refuse = () =>
    expect(verify(unsigned)).rejects.toMatchObject({ reason: 'signature_mismatch' });
  const costOfTen = (work: () => Promise<unknown>) =>
    cpuMsOf(async () => {
      for (let n = 0; n < 10; n += 1) await work();
    });
  const { refused, signed } = await mediansInTurns(
    { refused: () => costOfTen(refuse), signed: () => costOfTen(() => verify(text)) },
    5,
  );
  expectAtMost(MAX_RATIO, 'CPU to refuse 512 KiB, as a multiple', refused / signed);
});
