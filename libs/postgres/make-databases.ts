/** A command that creates the databases and roles of DATABASES on the server of ADMIN_DATABASE_URL. */
import { refuse } from '@creditlane/runtime/env';
import { run } from '@creditlane/runtime/run';
import { setting } from '@creditlane/runtime/setting';
import { databaseUrl } from './connection/database-url.ts';
import { ensureDatabases, type OwnedDatabase } from './databases/ensure-databases.ts';

const settings = {
  adminUrl: databaseUrl(
    'ADMIN_DATABASE_URL',
    'A database of the server, with a user who may create databases and roles.',
  ),
  databases: setting.parsed('DATABASES', parseDatabases, {
    type: '`name:password`, separated by commas',
    secret: true,
    about: 'The databases with the passwords of their owners, who have the same names.',
  }),
  setPasswords: setting.boolean('SET_PASSWORDS', {
    default: false,
    about:
      'Whether owners that exist get their passwords, too, which undoes changes made in PostgreSQL.',
  }),
};

function parseDatabases(text: string): OwnedDatabase[] {
  return text.split(',').map((entry) => {
    const [name, password, ...rest] = entry.trim().split(':');
    if (!name || !password || rest.length > 0) refuse('name:password,name:password,…');
    return { name, password };
  });
}

await run(
  'databases',
  settings,
  async ({ adminUrl, databases, setPasswords }, { log }) => {
    const { openDatabases, withoutKeeper } = await ensureDatabases(adminUrl(), databases, {
      setPasswords,
    });
    if (openDatabases.length > 0) {
      log.warn(
        { openDatabases },
        'every role may connect to these databases, which a superuser can close',
      );
    }
    if (withoutKeeper.length > 0) {
      log.warn(
        { databases: withoutKeeper },
        'the services may change the audit logs of these databases, until a superuser runs this',
      );
    }
    log.info({ databases: databases.map(({ name }) => name) }, 'databases ready');
  },
  { isCommand: true },
);
