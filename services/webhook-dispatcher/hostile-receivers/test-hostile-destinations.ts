/** For the tests: a dispatcher with an ordinary destination beside four hostile ones. */
import { randomUUID } from 'node:crypto';
import { TestCertificateAuthority } from '@creditlane/runtime/test-certificate-authority';
import { onTestFinished } from 'vitest';
import { createTestFixture } from '../test-fixture.ts';
import { startReceivers } from './test-receivers.ts';

const HOSTILE = [
  'endless 103 answers',
  'an endless chunk extension',
  'an endless zero-padded chunk size',
  'an endless reason phrase',
];

/** Starts the dispatcher with a lease of that duration. Everything is closed at the end of the test. */
export async function startBesideHostile(lease: string) {
  const fixture = await createTestFixture();
  onTestFinished(() => fixture.close());
  const receivers = await startReceivers(new TestCertificateAuthority().issue());
  onTestFinished(() => receivers.close());
  const ordinary = await fixture.addReceiver();
  const { bus, logged } = await fixture.start({
    DELIVERY_DEADLINE: '5s',
    LEASE: lease,
    RETRY_DELAYS: '1h',
  });
  const urlOf = (port: string) => `http://localhost:${receivers.ports[port]}`;
  const others = HOSTILE.map((name) => ({ name, ...fixture.integrations.add(urlOf(name)) }));
  return {
    ordinary,
    logged,
    /** How often the ordinary destination's deliveries were leased or had a result, by their state. */
    async ordinaryFences() {
      const { rows } = await fixture.sql.query(
        `SELECT state, fence, count(*)::int AS count FROM deliveries
         WHERE destination_id = $1 GROUP BY state, fence`,
        [ordinary.destinationId],
      );
      return rows;
    },
    /** Has the four others answer as hostile or as ordinary receivers do. */
    answerAs(kind: 'hostile' | 'ordinary') {
      for (const { name, destinationId } of others) {
        fixture.integrations.set(destinationId, urlOf(kind === 'hostile' ? name : 'http:'));
      }
    },
    /** Publishes so many events, each of an application of its own, for all five destinations. */
    publish: (count: number) =>
      bus.publish(
        Array.from({ length: count }, () => fixture.event({ applicationId: randomUUID() })),
      ),
  };
}
