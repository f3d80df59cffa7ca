import { SERVICES } from '@creditlane/platform/services';
import { expect, test } from 'vitest';
import { completeEnvFile, parseEnvFile } from './env-file.ts';

test('a secret whose line has no value, for which compose would not start, gets one', () => {
  const text = "KAFKA_PASSWORD=\nKEY_RING=''\nPOSTGRES_PASSWORD='kept'\n";
  const completed = completeEnvFile(text, SERVICES);
  expect(completed.startsWith(text)).toBe(true);
  expect(parseEnvFile(completed)).toMatchObject({
    KAFKA_PASSWORD: expect.stringMatching(/^[^'\s]+$/),
    KEY_RING: expect.stringMatching(/^[^'\s]+$/),
    POSTGRES_PASSWORD: 'kept',
  });
  expect(completeEnvFile(completed, SERVICES)).toBe(completed);
});
