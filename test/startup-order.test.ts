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

/** What each service waits for when it is started before everything else. */
const LACKS = SERVICES.map(({ name, database, calls = [] }: AnyService) => ({
  name,
  lacks: database === undefined ? calls : ['startup'],
}));

const nowhere = `postgres://nobody:secret@${HOST}:1/nothing`;
const databaseUrls = Object.fromEntries(
  Object.keys(DATABASES).map((owner) => [owner, nowhere]),
) as DatabaseUrls;

test.each(LACKS)(
  '$name, started before all that it needs, is alive, waits, and ends in order',
  async ({ name, lacks }) => {
    const ports = await choosePorts(0, HOST, portsNeeded({}));
    const instances = planInstances(ports, {});
    const instance = instances.find((it) => it.name === name);
    if (instance === undefined) throw new Error(`there is no ${name}`);
    const kafka = { KAFKA_BROKERS: `${HOST}:1` };
    const surroundings = { secrets: makeSecrets(), databaseUrls, ports, kafka };
    const ends: string[] = [];
    const service = new ServiceProcess({
      instance,
      env: { LOG_LEVEL: 'fatal', ...environmentOf(instance, instances, surroundings) },
      log: createLog('test', { level: 'silent' }),
      write: (text) => void process.stderr.write(text),
      onRestart: () => ends.push(name),
    });
    onTestFinished(() => service.stop());
    const ops = `http://${HOST}:${instance.ports.ops}`;
    const readiness = await eventually('word of its readiness', async () => {
      const answer = await fetch(`${ops}/readyz`).catch(() => undefined);
      if (answer === undefined) return undefined;
      const { checks } = (await answer.json()) as Readiness;
      return { status: answer.status, checks };
    });
    expect(readiness.status).toBe(503);
    for (const lack of lacks) expect(readiness.checks[lack]).toMatch(/^(starting|out of reach)$/);
    expect((await fetch(`${ops}/livez`)).status).toBe(200);
    await service.stop();
    expect(ends).toEqual([]);
  },
);
