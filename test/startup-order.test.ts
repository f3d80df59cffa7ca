import { generateApiKey } from '@creditlane/crypto/api-key';
import { HOST } from '@creditlane/local/host';
import { choosePorts } from '@creditlane/local/ports';
import type { DatabaseUrls } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import { DATABASES, SERVICES } from '@creditlane/platform/services';
import { environmentOf } from '@creditlane/processes/environment';
import { planInstances, portsNeeded } from '@creditlane/processes/instances';
import { ServiceProcess } from '@creditlane/processes/service-process';
import type { Readiness } from '@creditlane/runtime/health';
import { createLog } from '@creditlane/runtime/telemetry/log';
import type { AnyService } from '@creditlane/service/define-service';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from './platform/eventually.ts';

/** The readiness checks that fail while nothing that a service depends on is running. */
const FAILING_CHECKS = SERVICES.map(({ name, database, calls = [] }: AnyService) => ({
  name,
  // A service with a database waits for it at startup. A service without one checks its peers.
  checks: database === undefined ? calls : ['startup'],
}));

const UNREACHABLE_DATABASE = `postgres://nobody:secret@${HOST}:1/nothing`;
const DATABASE_URLS = Object.fromEntries(
  Object.keys(DATABASES).map((owner) => [owner, UNREACHABLE_DATABASE]),
) as DatabaseUrls;

/** The REST interface tells its callers that a part of the platform is away, and when to try again. */
async function expectUnavailable(port: number): Promise<void> {
  const headers = { authorization: generateApiKey(false) };
  const answer = await fetch(`http://${HOST}:${port}/v1/users`, { headers });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await answer.json()).toMatchObject({ status: 503, code: 'unavailable' });
}

test.each(FAILING_CHECKS)(
  '$name, started before everything it depends on, stays alive and not ready, and stops when asked',
  async ({ name, checks }) => {
    const ports = await choosePorts({ first: 0, host: HOST, services: portsNeeded({}) });
    const instances = planInstances(ports, {});
    const instance = instances.find((it) => it.name === name);
    if (instance === undefined) throw new Error(`there is no service ${name}`);
    const kafka = { KAFKA_BROKERS: `${HOST}:1` };
    const settings = { secrets: makeSecrets(), databaseUrls: DATABASE_URLS, ports, kafka };
    const warnings: string[] = [];
    const service = new ServiceProcess({
      instance,
      env: { LOG_LEVEL: 'fatal', ...environmentOf(instance, instances, settings) },
      log: createLog('test', {
        level: 'warn',
        destination: { write: (line) => void warnings.push(line) },
      }),
      write: (text) => void process.stderr.write(text),
      onRestart: () => undefined,
    });
    onTestFinished(() => service.stop());
    const opsUrl = `http://${HOST}:${instance.ports.ops}`;
    const readiness = await eventually('answer of /readyz', async () => {
      const answer = await fetch(`${opsUrl}/readyz`).catch(() => undefined);
      if (answer === undefined) return undefined;
      const body = (await answer.json()) as Readiness;
      return { status: answer.status, checks: body.checks };
    });
    expect(readiness.status).toBe(503);
    for (const check of checks) {
      expect(readiness.checks[check]).toMatch(/^(starting|out of reach)$/);
    }
    expect((await fetch(`${opsUrl}/livez`)).status).toBe(200);
    if (name === 'gateway') await expectUnavailable(instance.ports.http);
    expect(warnings).toEqual([]);
    // Sent by somebody else, so that the supervisor says how the process ended.
    process.kill(service.pid, 'SIGTERM');
    const ended = expect.stringContaining(`${name} ended with code 0;`);
    await expect.poll(() => warnings).toEqual([ended]);
  },
);
