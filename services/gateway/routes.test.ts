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

  test.each([
    ['%zz/creditors/', ['applicationId']],
    ['%E0%A4%A/creditors/%zz', ['applicationId', 'creditorId']],
  ])('broken percent-encoding, as in %s, is 400 that names %j', async (broken, names) => {
    const path = gateway.decisionPath.replace('/creditors/', broken);
    const { status, json } = await gateway.send('GET', path);
    expect(status).toBe(400);
    const message = 'has broken percent-encoding';
    const errors = names.map((name) => ({ in: 'path', pointer: `/${name}`, message }));
    expect(json).toMatchObject({ code: 'invalid_request', errors });
  });
});
