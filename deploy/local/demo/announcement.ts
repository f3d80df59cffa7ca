// The text that `npm start` and `npm run up` print once the platform is ready.
import type { Demo, ServiceAddress } from './demo.ts';

/** The text printed once the platform is ready: addresses, keys, and commands that work as printed. */
export function announce(demo: Demo, services: Record<string, ServiceAddress> = {}): string {
  const docs = new URL('/docs', demo.baseUrl).href;
  const decision = `${demo.baseUrl}/applications/${demo.applicationId}/creditors/${demo.creditorId}/decision`;
  const { creditFile } = demo;
  const file = `${demo.baseUrl}/applications/${creditFile.applicationId}/credit-file/${creditFile.applicantId}`;
  const key = `-H "Authorization: Bearer ${demo.keys.integration}"`;
  const body = JSON.stringify({
    applicationId: demo.applicationId,
    decision: 'APPROVED',
    interestRate: 6.49,
    paymentAmount: 412.37,
    term: 72,
  });
  return `
Creditlane is ready.

  API               ${demo.baseUrl}
  Documentation     ${docs}
  Webhook inbox     ${demo.inboxUrl}   (open it in a browser)
  Bureau simulator  ${demo.simulatorUrl}/personas  ${demo.simulatorUrl}/inquiries
  Health, metrics   ${demo.opsUrl}/readyz  ${demo.opsUrl}/metrics
${processes(services)}
  Integration key   ${demo.keys.integration}
  Platform key      ${demo.keys.platform}

Try it: read what the creditor decided so far,

  curl ${key} \\
    ${decision}

decide,

  curl ${key} \\
    -H "Content-Type: application/json" \\
    -d '${body}' \\
    ${decision}

read it back with its history, which also has the term,

  curl ${key} \\
    ${decision}s

and see the signed webhook in the inbox, unless you have set another destination.

  curl -H "Accept: application/json" ${demo.inboxUrl}

Pull a credit file of an applicant who has consented,

  curl ${key} \\
    -H "Content-Type: application/json" -d '{"source":"EQUIFAX"}' \\
    ${file}/request

and read it. \`signedPdfUrl\`, the last field, opens it as a PDF for 15 minutes, without a key.

  curl ${key} -H "Prefer: wait=30" \\
    ${file}

Ctrl-C stops everything; the data stays.
`;
}

/** A line for each process, where there are several, and how operators' commands run beside them. */
function processes(services: Record<string, ServiceAddress>): string {
  const lines = Object.entries(services).map(
    ([name, { pid, opsUrl }]) => `  ${name.padEnd(19)} ${opsUrl}/readyz   (process ${pid})\n`,
  );
  const commands = "  Operators' commands npm run operate -- --help\n";
  return lines.length === 0 ? '' : `\n${lines.join('')}\n${commands}`;
}
