/** The generated part of charts/creditlane/values.yaml: the map of services, and the public addresses. */
import { PUBLIC_ADDRESS_BLOCKS } from '@creditlane/egress-rules/public-address';
import { INSTALLED_SETTINGS } from '@creditlane/platform/installed-settings';
import type { AnyService } from '@creditlane/service/define-service';
import { stringify } from 'yaml';
import { sumOfRequests } from './measured-resources.ts';
import { serviceFacts, settableVariables } from './service-facts.ts';

/** The first line of the generated part; what stands above it is written by hand. */
const BEGINNING = '# Made by "npm run generate" from the manifests in services/*/service.ts.\n';

/** The text of values.yaml with the generated part made anew. */
export function chartValues(text: string, services: readonly AnyService[]): string {
  const [byHand = ''] = text.split(BEGINNING);
  const entries = services.map((service) => {
    const readable = settableVariables(service).map(({ name }) => name);
    const settings = Object.entries(INSTALLED_SETTINGS).filter(([name]) => readable.includes(name));
    const facts = { ...serviceFacts(service), settings: Object.fromEntries(settings) };
    const entry = { [service.name]: facts };
    return `# ${service.about}\n${yaml(entry)}`;
  });
  const { cores, gib } = sumOfRequests(services.map(({ name }) => name));
  const sum = `# One pod of each service requests ${cores} cores and ${gib.toFixed(1)} GiB together.`;
  return `${byHand}${BEGINNING}${EXPLANATION}${sum}\nservices:\n${indented(entries.join(''))}
# The addresses that libs/egress-rules takes for public.
${yaml({ publicAddresses: PUBLIC_ADDRESS_BLOCKS })}`;
}

const EXPLANATION = `\
# An entry may also have whatever \`defaults\` has, and
#   settings     its environment: variables of docs/settings.md, as texts
#   secretFiles  variables whose values are in other Secrets, such as {TRANSUNION_TLS_KEY_FILE: {secret: bureau, key: tls.key}},
#                or DATABASE_URL, and KAFKA_SASL_USERNAME, instead of those that the chart derives: the URL has user, password
#                and what postgres.sslMode and postgres.caSecret add to it (docs/operations/passwords.md)
#   secretName   another name of its Secret
#   egressPeers  what it reaches instead of all public addresses, as NetworkPolicyPeers: the bureaus, or a proxy
`;

function yaml(value: object): string {
  return stringify(value, { lineWidth: 0, flowCollectionPadding: false, collectionStyle: 'any' });
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
