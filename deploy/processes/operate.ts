// `npm run operate`: runs an operator's command of a service beside the processes of a running installation.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { runCommand } from '@creditlane/local/command';
import { findServerUrl } from '@creditlane/local/postgres';
import { readSecrets } from '@creditlane/local/secrets-file';
import { settingsOf } from '@creditlane/local/settings';
import { databaseUrlsOf } from '@creditlane/platform/databases';
import { SERVICES } from '@creditlane/platform/services';
import { OPERATE_HELP, readOperateOptions } from './options.ts';
import { mainFileOf } from './service-process.ts';

await runCommand(OPERATE_HELP, readOperateOptions, async ({ dataDir, service: name, command }) => {
  const dir = resolve(dataDir);
  const services = SERVICES.filter((service) => service.name === name);
  const [service] = services;
  if (service === undefined) throw new Error(`there is no service ${name}`);
  const serverUrl = await findServerUrl(dir);
  const secrets = await readSecrets(dir);
  const databaseUrls = databaseUrlsOf(serverUrl, secrets, '', services);
  // A command serves nobody.
  const settings = settingsOf(service, { secrets, databaseUrls, ports: { api: 0 } });
  // Ctrl-C reaches the command, too, which ends in order.
  process.on('SIGINT', () => undefined);
  const flags = ['--disable-warning=ExperimentalWarning'];
  // In the environment, because every user of the machine can read command lines.
  const env = { LOG_FORMAT: 'pretty', ...settings };
  const child = spawn(process.execPath, [...flags, mainFileOf(service), ...command], {
    stdio: 'inherit',
    env,
  });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
});
