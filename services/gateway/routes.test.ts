import { afterAll, describe, expect, test } from 'vitest';
import { startTestGateway } from './test-gateway.ts';

const gateway = await startTestGateway();
afterAll(gateway.close);

describe('routes', () => {
  test.each(['/v1', '/v2/applications', '/v1/applications/', '/v1//applications', '/v1/nothing'])(
    '%s is 404 with the body that all errors have',
    async (path) => {
      const answer = await gateway.send('GET', path);
      expect(answer.status).toBe(404);
      expect(answer.json).toEqual({
        status: 404,
        message: 'no operation has this path; all begin with /v1, and /docs lists them',
        code: 'route_not_found',
        requestId: answer.headers.get('x-request-id'),
      });
    },
  );

  test('a method that a path does not take is 405 with Allow', async () => {
    const answer = await gateway.send('DELETE', gateway.decisionPath);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
    expect(answer.json.code).toBe('method_not_allowed');
  });

  test('HEAD answers like GET, without the body', async () => {
    const answer = await gateway.send('HEAD', gateway.decisionPath);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('');
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(0);
  });

  test('broken percent-encoding is 400', async () => {
    const answer = await gateway.send(
      'GET',
      gateway.decisionPath.replace('/creditors/', '%zz/creditors/'),
    );
    expect(answer.status).toBe(400);
  });
});
