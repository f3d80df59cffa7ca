// `npm run generate`: generates proto/gen from the contracts in proto/creditlane, then services/gateway/gen and
// libs/client/gen from the OpenAPI document, deploy/compose.yaml, docs/settings.md, the values of the Helm chart and its
// external-secrets.yaml from the services' manifests, docs/conformance.md from test/conformance, and docs/bureau-formats.md from
// test/credit-file/bureau-formats.
import { readFile, writeFile } from 'node:fs/promises';
import { runTool } from './checks.ts';

if (!(await runTool('buf', ['generate'], 'proto'))) process.exit(1);

// Imported only now, because the services import the generated code.
const { SERVICES } = await import('../deploy/platform/services.ts');
const { composeFile } = await import('../deploy/compose/compose-file.ts');
const { settingsPage } = await import('../deploy/platform/settings-page.ts');
await writeFile('deploy/compose.yaml', composeFile(SERVICES));
await writeFile('docs/settings.md', settingsPage(SERVICES));
const { chartValues } = await import('../deploy/chart/chart-values.ts');
const { valuesSchema } = await import('../deploy/chart/values-schema.ts');
const values = 'charts/creditlane/values.yaml';
await writeFile(values, chartValues(await readFile(values, 'utf8'), SERVICES));
await writeFile('charts/creditlane/values.schema.json', valuesSchema(SERVICES));
const { externalSecrets } = await import('../deploy/chart/external-secrets.ts');
await writeFile('charts/creditlane/external-secrets.yaml', externalSecrets(SERVICES));
const { conformancePage } = await import('../test/conformance/conformance-page.ts');
await writeFile('docs/conformance.md', conformancePage());
const { bureauFormatsPage } = await import(
  '../test/credit-file/bureau-formats/bureau-formats-page.ts'
);
await writeFile('docs/bureau-formats.md', bureauFormatsPage());
const types = await runTool(process.execPath, [
  'services/gateway/document/code-generation/generate-types.ts',
]);
process.exitCode = types ? 0 : 1;
