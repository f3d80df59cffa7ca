// docs/conformance.md: everything that the interface specification demands, the test of it, and what the server restricts.
import { RESTRICTIONS } from './restrictions.ts';
import { SPECIFIED_EVENTS, SPECIFIED_OPERATIONS } from './specified-interface.ts';

/** The titles of the tests in conformance.test.ts. */
export const titleOf = {
  status: (id: string, status: number) => `${id} answers ${status}`,
  required: (id: string, field: string) => `${id} without ${field} is refused with 400`,
  values: (id: string, field: string) => `${id} takes each value of ${field} and no other`,
  event: (name: string) => `${name} is posted to its path, signed in its header`,
};

/** The page. Each test of it runs on a whole platform, and the page is made from the same list as the tests. */
export function conformancePage(): string {
  const ofOperations = SPECIFIED_OPERATIONS.flatMap(({ id, method, path, ...it }) => [
    ...it.statuses.map((status) => [`${method} ${path}`, `${status}`, titleOf.status(id, status)]),
    ...it.required.map((field) => ['', `requires \`${field}\``, titleOf.required(id, field)]),
    ...Object.entries(it.values).map(([field, { length }]) => {
      return ['', `${length} values of \`${field}\``, titleOf.values(id, field)];
    }),
  ]);
  const ofEvents = SPECIFIED_EVENTS.map(({ name, path, signatureHeader }) => {
    return [name, `\`${path}\`, \`${signatureHeader}\``, titleOf.event(name)];
  });
  const ofRestrictions = RESTRICTIONS.map((it) => [it.specified, it.here, it.reason]);
  return `<!-- Generated from test/conformance by npm run generate. Do not edit. -->

# Conformance

What the interface specification 1.0.0 demands, and the test of it in \`test/conformance/conformance.test.ts\`, which runs
it on a whole platform. Every answer in any test is compared with the OpenAPI document too: status, headers,
content type and each field of the body.

## Operations

${table(['operation', 'demand', 'test'], ofOperations)}
## Events

${table(['event', 'path and signature header', 'test'], ofEvents)}
## Restrictions

Where the server takes or shows less than the specification allows, on purpose.

${table(['specification', 'here', 'reason'], ofRestrictions)}`;
}

function table(head: string[], rows: string[][]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
