import { afterAll, describe, expect, test } from 'vitest';
import { startTestGateway } from './test-gateway.ts';

const gateway = await startTestGateway();
const { decision, postDecision } = gateway;
afterAll(gateway.close);

describe('every answer', () => {
  test('carries the security headers', async () => {
    for (const answer of [
      await postDecision(decision()),
      await postDecision('{'),
      await gateway.send('GET', '/x'),
    ]) {
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'strict-transport-security': 'max-age=31536000; includeSubDomains',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  test('with a fault of the platform is counted from 0 on, so that the first of an operation is an increase', async () => {
    const metrics = await gateway.process.metrics.text();
    for (const status of ['500', '503']) {
      const series = `{operation="submitApplication",status="${status}"} 0`;
      expect(metrics).toContain(`creditlane_http_requests_total${series}\n`);
    }
  });

  test('is counted and logged by operation, never by id', async () => {
    gateway.lines.length = 0;
    await gateway.send('GET', gateway.decisionPath);
    await postDecision(decision(), { 'X-Request-Id': 'counted' });
    const line = JSON.parse(gateway.lines.find((it) => it.includes('counted')) ?? '');
    expect(line).toMatchObject({
      operation: 'recordDecision',
      route: '/v1/applications/{applicationId}/creditors/{creditorId}/decision',
      status: 200,
      caller: gateway.ids.integration,
    });
    const metrics = await gateway.process.metrics.text();
    expect(metrics).toMatch(
      /creditlane_http_requests_total\{operation="recordDecision",status="200"\} \d/,
    );
    expect(metrics).toContain(
      'creditlane_http_request_duration_seconds_bucket{le="0.001",operation="getDecision",method="get"}',
    );
    expect(metrics).not.toContain(gateway.ids.application);
  });
});
