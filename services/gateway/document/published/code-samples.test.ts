import { expect, test } from 'vitest';
import { type OpenApiDocument, openApiDocument } from '../openapi-document.ts';
import { operationsOf } from '../operation.ts';
import { codeSamplesOf } from './code-samples.ts';
import { literal, PYTHON, TYPE_SCRIPT } from './literals.ts';

const document = openApiDocument();

/** The code samples of an operation by their labels. */
function samplesOf(operationId: string, described: OpenApiDocument = document) {
  const operation = operationsOf(described).find(({ id }) => id === operationId);
  if (operation === undefined) throw new Error(`there is no ${operationId}`);
  const samples = codeSamplesOf(described, operation);
  return new Map(samples.map(({ label, source }) => [label, source]));
}

test('a sample sends the example of the body with a key for repeats', () => {
  const samples = samplesOf('setIncomeStatus');
  const path =
    '/applications/0198c0de-0000-7000-8000-00000000b001/creditors/0198c0de-0000-7000-8000-00000000c001/income-status';
  expect(samples.get('curl')).toBe(`curl "$BASE_URL${path}" \\
  -H "Authorization: Bearer $KEY" \\
  -H "Idempotency-Key: $(uuidgen)" \\
  -H "Content-Type: application/json" \\
  -d '{
  "incomeStatus": "VERIFIED"
}'`);
  expect(samples.get('TypeScript')).toBe(`import { createClient } from '@creditlane/client';

const { BASE_URL = '', KEY = '' } = process.env;
const client = createClient({ baseUrl: BASE_URL, apiKey: KEY });

const { body } = await client.setIncomeStatus({
  path: {
    applicationId: '0198c0de-0000-7000-8000-00000000b001',
    creditorId: '0198c0de-0000-7000-8000-00000000c001',
  },
  body: { incomeStatus: 'VERIFIED' },
});
console.log(body);`);
  expect(samples.get('Python')).toContain(`body = {"incomeStatus": "VERIFIED"}
request = Request(
    os.environ["BASE_URL"] + "${path}",
    method="POST",
    headers=headers,
    data=json.dumps(body).encode(),
)`);
});

test('every further example of a body has samples of its own', () => {
  const samples = samplesOf('recordDecision');
  expect([...samples.keys()]).toEqual([
    ...['curl', 'TypeScript', 'Python'],
    ...['curl (declined)', 'TypeScript (declined)', 'Python (declined)'],
  ]);
  for (const [label, source] of samples) {
    expect(source, label).toContain(label.endsWith('(declined)') ? 'DECLINED' : 'APPROVED');
  }
});

test('an operation of the platform takes the platform’s key, and one without an answer prints none', () => {
  const samples = samplesOf('revokeKey');
  expect(samples.get('curl')).toMatch(/^curl -X DELETE .*\n.*\$PLATFORM_KEY"$/);
  expect(samples.get('TypeScript')).toMatch(/\nawait client\.revokeKey\(\{/);
  expect(samples.get('Python')).toContain('print(response.status)');
});

test('an operation without a key sends none, and one that answers with a file saves it', () => {
  const samples = samplesOf('readCreditFileDocument');
  expect(samples.get('curl')).toMatch(/^curl "\$BASE_URL[^"]+" \\\n {2}-o answer\.pdf$/);
  expect(samples.get('TypeScript')).toContain("await writeFile('answer.pdf', body);");
  expect(samples.get('Python')).toContain('with open("answer.pdf", "wb") as file:');
  expect(samples.get('Python')).not.toContain('Authorization');
});

test('the sample of a list that is made for a retailer names it, and reads every page', () => {
  const samples = samplesOf('listUsers');
  for (const source of samples.values()) expect(source).toContain('X-Service-Retailer-ID');
  expect(samples.get('TypeScript')).toContain('client.listUsers.each({');
  expect(samples.get('Python')).toContain('query["cursor"] = page["nextCursor"]');
});

test('quotes, line breaks and constants are written as each language has them', () => {
  const value = { note: "it's\n", 'a-b': [true, null], many: { word: 'x'.repeat(80) } };
  expect(literal(value, TYPE_SCRIPT, '')).toBe(`{
  note: "it's\\n",
  'a-b': [true, null],
  many: {
    word: '${'x'.repeat(80)}',
  },
}`);
  expect(literal({ ...value, many: [] }, PYTHON, '')).toBe(
    '{"note": "it\'s\\n", "a-b": [True, None], "many": []}',
  );
  const changed = structuredClone(document);
  const path = '/applications/{applicationId}/creditors/{creditorId}/income-status';
  const body = changed.paths[path]?.post?.requestBody?.content['application/json'];
  if (body) body.example = { incomeStatus: "it's" };
  expect(samplesOf('setIncomeStatus', changed).get('curl')).toContain(`"it'\\''s"`);
});

test('a required parameter without an example is named', () => {
  const changed = structuredClone(document);
  const { ApplicationId } = changed.components.parameters as Record<string, { example?: string }>;
  delete ApplicationId?.example;
  expect(() => samplesOf('getApplication', changed)).toThrow(
    'getApplication needs an example of its applicationId',
  );
});
