import { expect, test } from 'vitest';
import { parsePublicUrl } from './public-url.ts';
import { startTestGateway } from './test-gateway.ts';

test.each([
  ['https://api.example.com', 'https://api.example.com'],
  ['https://API.example.com:443/', 'https://api.example.com'],
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ['https://example.com/credit/', 'https://example.com/credit'],
])('the public URL %s is %s', (text, url) => {
  expect(parsePublicUrl(text)).toBe(url);
});

test.each([
  'api.example.com',
  'ftp://example.com',
  'javascript:alert(1)',
  'https://user@example.com',
  'https://example.com/?a=1',
  'https://example.com/#a',
])('%s is no public URL', (text) => {
  expect(() => parsePublicUrl(text)).toThrow('must be an http or https URL');
});

test.each([
  [{}, 1],
  [{ publicUrl: 'https://api.example.com' }, 0],
])(
  'with the settings %j the gateway warns of links to the client’s own machine %i times',
  async (settings, times) => {
    const gateway = await startTestGateway(settings);
    await gateway.close();
    expect(gateway.lines.filter((line) => line.includes('set PUBLIC_URL'))).toHaveLength(times);
  },
);
