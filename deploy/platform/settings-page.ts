// docs/settings.md: the table of all settings, made from the manifests.
import { KAFKA } from '@creditlane/events/kafka-config';
import { SERVER_SETTINGS } from '@creditlane/rpc/serve';
import { PROCESS } from '@creditlane/runtime/run';
import { type Variable, variablesOf } from '@creditlane/runtime/setting';
import type { AnyService } from '@creditlane/service/define-service';
import { OPS, processVariables } from '@creditlane/service/settings';

/** The text of the page. */
export function settingsPage(services: readonly AnyService[]): string {
  const everywhere = variablesOf({ OPS, ...PROCESS });
  const ofCallees = variablesOf({ SERVER_SETTINGS });
  const shared = [
    section('Every service', everywhere),
    section('Every service that serves calls', without(ofCallees, everywhere)),
    section('Every service that publishes or consumes events', KAFKA.variables),
  ];
  const common = [...everywhere, ...ofCallees, ...KAFKA.variables];
  const own = services.map((service) =>
    section(service.name, without(processVariables(service), common), `${service.about}\n\n`),
  );
  return `${INTRODUCTION}\n${[...shared, ...own].join('\n')}`;
}

const INTRODUCTION = `\
# Settings

Made by \`npm run generate\` from the manifests in \`services/*/service.ts\`; do not edit.

Each service reads its settings from the environment when it starts. \`node services/<name>/main.ts --check\`
reads them and lists every problem. A setting \`NAME\` may also be given as \`NAME_FILE\`, the path of a file
with the value, as secrets are mounted. A time span is a number with \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`.
A setting without a default must be set.
`;

function section(title: string, variables: readonly Variable[], about = ''): string {
  const rows = variables.map(({ name, type, default: fallback, limits, secret, about }) => {
    const kind = [type, ...(limits ? [limits] : [])].join(', ');
    const value = fallback === undefined ? 'must be set' : fallback === '' ? '' : `\`${fallback}\``;
    const note = secret ? `${about} Secret.` : about;
    return `| \`${name}\` | ${kind} | ${value} | ${note} |\n`;
  });
  const head = '| Setting | Type | Default | What it decides |\n|---|---|---|---|\n';
  return `## ${title}\n\n${about}${rows.length === 0 ? '' : head + rows.join('')}`;
}

function without(variables: readonly Variable[], others: readonly Variable[]): Variable[] {
  return variables.filter(({ name }) => !others.some((other) => other.name === name));
}
