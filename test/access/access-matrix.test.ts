// Who may do what: every operation of the OpenAPI document, with every id that it takes, for every kind of caller.
import { generateApiKey } from '@creditlane/crypto/api-key';
import { openApiDocument, operationsIn } from '@creditlane/gateway/document/openapi-document';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';
import { makeCallers } from './matrix/callers.ts';
import type { MatrixCaller } from './matrix/expectation.ts';
import { matrixOperations } from './matrix/matrix-operation.ts';
import { MatrixRow } from './matrix/matrix-row.ts';
import { Administration, PREPARATIONS, Records } from './matrix/records.ts';

const document = openApiDocument();
// Whoever holds a signed link may open it: test/credit-files.test.ts shows who cannot.
const described = operationsIn(document.paths).filter(
  ({ operation }) => operation['x-access'].caller !== 'link',
);
const operations = described.flatMap((it) => matrixOperations(document, it));

/** The permissions that the operations ask of a kind of caller. */
const permissionsOf = (kind: string): string[] => {
  const rules = operations.map(({ access }) => access);
  const named = rules.flatMap((it) => (it.caller === kind && it.permission ? [it.permission] : []));
  return [...new Set(named)];
};
const platformKeys = new Map(permissionsOf('platform').map((it) => [generateApiKey(false), [it]]));

const TIMEOUT_MS = 120_000;

describe.concurrent('an operation answers each caller as its access rule says', () => {
  let platform: TestPlatform;
  let records: Records;
  let callers: MatrixCaller[];
  const sources = () => ({
    platform,
    administration: new Administration(platform),
    permissions: permissionsOf('integration'),
    platformKeys: new Map([
      ...platformKeys,
      [platform.demo.keys.platform, permissionsOf('platform')] as const,
    ]),
  });
  beforeAll(async () => {
    // More than the forced pulls of all callers together.
    platform = await startTestPlatform({ platformKeys, everywhere: { MAX_FORCED_PULLS: '1000' } });
    records = await Records.open(platform, operations);
    callers = await makeCallers(sources(), { withNewOwner: false });
  }, TIMEOUT_MS);
  afterAll(() => platform.close());

  test.each(operations)(
    '$name, whose ids of another tenant are answered like unknown ids',
    async (operation) => {
      const row = new MatrixRow(platform.api, operation, records);
      const changesCaller = PREPARATIONS[operation.id]?.changesCaller === true;
      const own = changesCaller ? await makeCallers(sources(), { withNewOwner: true }) : callers;
      for (const caller of own) await row.callAs(caller);
      expect(row.faults).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test('every preparation is of an operation that exists', () => {
    const ids = operationsIn(document.paths).map(({ operation }) => operation.operationId);
    expect(Object.keys(PREPARATIONS).filter((id) => !ids.includes(id))).toEqual([]);
  });
});
