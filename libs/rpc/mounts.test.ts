// What every call can rely on, on each of the three mounts.
import { create } from '@bufbuild/protobuf';
import {
  DecisionsService,
  GetDecisionRequestSchema,
  ListDecisionsRequestSchema,
} from '@creditlane/proto/decisions/v1/decisions_service';
import {
  AccessService,
  IntegrationsService,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { describe, expect, test } from 'vitest';
import { requestDigestOf } from './call.ts';
import { type CallContext, connect } from './client.ts';
import { openTransport } from './endpoint.ts';
import { conflict, Fault, invalid, notFound, unavailable } from './fault.ts';
import { type Identity, serviceIdentity, TokenSigner } from './identity.ts';
import {
  faultOf,
  GET_DECISION,
  MOUNTS,
  startTestService,
  TEST_INTEGRATION,
  TEST_KEYS,
  type TestServiceOptions,
} from './test-service.ts';

const context: CallContext = { identity: TEST_INTEGRATION };

describe.each(MOUNTS)('over %s', (mount) => {
  const open = (options?: TestServiceOptions) => startTestService(mount, options);

  describe('admission', () => {
    const tooLarge = create(ListDecisionsRequestSchema, { cursor: 'x'.repeat(5_000) });

    test('a call without a token fails before its body is read', async () => {
      const { endpoint, closers } = await open({ maxMessageBytes: 1_000 });
      const { unary, close } = openTransport(endpoint);
      closers.add('transport', close);
      const method = DecisionsService.method.listDecisions;
      const call = unary(method, undefined, 20_000, {}, tooLarge);
      await expect(call).rejects.toThrow('[unauthenticated] the call carries no identity token');
    });

    const fromGateway = { issuer: 'gateway', privateKey: TEST_KEYS.gateway.privateKey };
    const fromApplications = {
      issuer: 'applications',
      privateKey: TEST_KEYS.applications.privateKey,
    };
    const platform: Identity = { kind: 'platform', subject: 'p', permissions: [] };
    const twoMinutesAgo = () => new Date(Date.now() - 120_000);

    test.each([
      {
        what: 'a token for another audience',
        signedBy: fromGateway,
        audience: 'applications',
        code: 'token_invalid',
      },
      {
        what: 'an expired token',
        signedBy: { ...fromGateway, clock: twoMinutesAgo },
        code: 'token_expired',
      },
      {
        what: 'a token that is not signed with its issuer’s key',
        signedBy: { ...fromGateway, privateKey: TEST_KEYS.stranger.privateKey },
        code: 'token_invalid',
      },
      {
        what: 'a token for an integration that is not signed by the gateway',
        signedBy: fromApplications,
        code: 'token_invalid',
      },
      {
        what: 'a token in which a service names another service',
        signedBy: fromApplications,
        identity: serviceIdentity('gateway'),
        code: 'token_invalid',
      },
      {
        what: 'a kind of caller that the method does not admit',
        signedBy: fromGateway,
        identity: platform,
        code: 'caller_not_allowed',
      },
      {
        what: 'a service that the method does not admit',
        signedBy: fromGateway,
        identity: serviceIdentity('gateway'),
        code: 'caller_not_allowed',
      },
    ])('$what: the call fails before the body is read', async (given) => {
      const { signedBy, audience = 'decisions', identity = TEST_INTEGRATION, code } = given;
      const { endpoint, closers, handled } = await open({ maxMessageBytes: 1_000 });
      const signer = new TokenSigner(signedBy);
      const client = connect(DecisionsService, endpoint, { signer, audience, closers });
      // If the body were read, the call would fail because of its size.
      const fault = await faultOf(client.listDecisions(tooLarge, { identity }));
      const kind = code === 'caller_not_allowed' ? 'forbidden' : 'unauthenticated';
      expect(fault).toMatchObject({ kind, code });
      expect(handled).toEqual([]);
    });

    test('a caller without the method’s permission: a fault that names the permission', async () => {
      const { connectTo } = await open();
      const integrations = connectTo(IntegrationsService);
      const revoke = {
        integrationId: GET_DECISION.applicationId,
        keyId: GET_DECISION.applicationId,
      };
      const withPermissions = (...permissions: string[]) => ({
        identity: { ...platform, permissions },
      });
      await integrations.revokeKey(revoke, withPermissions('MANAGE_INTEGRATIONS'));
      expect(
        await faultOf(integrations.revokeKey(revoke, withPermissions('MANAGE_DIRECTORY'))),
      ).toMatchObject({
        kind: 'forbidden',
        code: 'permission_missing',
        message: expect.stringContaining('MANAGE_INTEGRATIONS'),
      });
    });

    test('a service that the method admits may call it in its own name', async () => {
      const { connectTo, handled } = await open();
      const request = { keyDigest: new Uint8Array(32) };
      await connectTo(AccessService).authenticate(request, {
        identity: serviceIdentity('gateway'),
      });
      expect(handled).toHaveLength(1);
    });
  });

  describe('the handler', () => {
    test('gets the caller’s identity and metadata', async () => {
      const { decisions, handled } = await open();
      await decisions.getDecision(GET_DECISION, {
        ...context,
        requestId: 'req-1',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      });
      expect(handled[0]).toMatchObject({
        identity: TEST_INTEGRATION,
        requestId: 'req-1',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        idempotency: undefined,
      });
    });

    test('gets a generated request id when the caller’s could forge a log entry', async () => {
      const { decisions, handled } = await open();
      await decisions.getDecision(GET_DECISION, { ...context, requestId: 'a" b' });
      expect(handled[0]?.requestId).toMatch(/^[\da-f-]{36}$/);
    });

    test('gets the idempotency key with its caller, its operation and a digest of the request', async () => {
      const { decisions, handled } = await open();
      await decisions.getDecision(GET_DECISION, { ...context, idempotencyKey: 'k' });
      await decisions.getDecision({ ...GET_DECISION }, { ...context, idempotencyKey: 'k' });
      await decisions.getDecision(
        { ...GET_DECISION, creditorId: '6a2f41a3-c54c-4c3e-9d7a-000000000000' },
        { ...context, idempotencyKey: 'k' },
      );
      const [first, same, other] = handled.map((call) => call.idempotency);
      expect(first).toMatchObject({
        callerId: TEST_INTEGRATION.subject,
        operation: 'creditlane.decisions.v1.DecisionsService/GetDecision',
        key: 'k',
      });
      expect(same?.requestDigest).toEqual(first?.requestDigest);
      expect(other?.requestDigest).not.toEqual(first?.requestDigest);
    });

    test('gets ids in lower case, and the digest of the request as it was sent', async () => {
      const requests: unknown[] = [];
      const digests: (Buffer | undefined)[] = [];
      const { decisions } = await open({
        async getDecision({ applicationId, creditorId }, { idempotency }) {
          requests.push({ applicationId, creditorId });
          digests.push(idempotency?.requestDigest);
          return {};
        },
      });
      const upper = create(GetDecisionRequestSchema, {
        applicationId: GET_DECISION.applicationId.toUpperCase(),
        creditorId: GET_DECISION.creditorId.toUpperCase(),
      });
      const digest = requestDigestOf(GetDecisionRequestSchema, upper);
      await decisions.getDecision(upper, { ...context, idempotencyKey: 'k' });
      expect(requests).toEqual([GET_DECISION]);
      expect(digests).toEqual([digest]);
      expect(upper.creditorId).toBe(GET_DECISION.creditorId.toUpperCase());
    });

    test('shares no object with its caller', async () => {
      const reply = { decision: { conditions: 'as sent' } };
      const { decisions } = await open({
        async getDecision(request) {
          request.applicationId = 'changed';
          return reply;
        },
      });
      const request = { ...GET_DECISION };
      const answer = await decisions.getDecision(request, context);
      if (answer.decision) answer.decision.conditions = 'changed';
      expect(request).toEqual(GET_DECISION);
      expect(reply.decision.conditions).toBe('as sent');
    });

    test('can mark its answer as a stored answer, which the caller sees', async () => {
      const { decisions } = await open({
        async getDecision(_request, call) {
          if (call.idempotency?.key === 'known') call.markReplayed();
          return {};
        },
      });
      const replays: string[] = [];
      for (const idempotencyKey of ['known', 'new']) {
        const onReplayed = () => replays.push(idempotencyKey);
        await decisions.getDecision(GET_DECISION, { ...context, idempotencyKey, onReplayed });
      }
      expect(replays).toEqual(['known']);
    });
  });

  describe('a fault', () => {
    test('for a request that is not valid names each field', async () => {
      const { decisions, handled } = await open();
      const request = {
        ...GET_DECISION,
        applicationId: 'x',
        decision: { firstPaymentDate: '2026-01-01x' },
      };
      const fault = await faultOf(decisions.recordDecision(request, context));
      expect(fault).toMatchObject({ kind: 'invalid', code: 'invalid_request' });
      expect(fault.fields.map(({ pointer }) => pointer)).toEqual(
        expect.arrayContaining([
          '/applicationId',
          '/decision/decision',
          '/decision/firstPaymentDate',
        ]),
      );
      expect(handled).toEqual([]);
    });

    test.each([
      notFound('submission_not_found', 'no such submission — “none”'),
      conflict('already_submitted', 'the application is already submitted'),
      invalid('idempotency_key_reused', 'the key was used', [{ pointer: '/a~1b', message: 'é' }]),
      unavailable('later', 7),
    ])('of a handler reaches the caller unchanged: %s', async (thrown) => {
      const { decisions } = await open({ recordDecision: () => Promise.reject(thrown) });
      const request = { ...GET_DECISION, decision: { decision: 1 } };
      const fault = await faultOf(decisions.recordDecision(request, context));
      const { kind, code, message, fields, retryAfterS } = thrown;
      expect(fault).toMatchObject({ kind, code, message, fields, retryAfterS, fromPeer: true });
    });

    test('for any other error is internal, without its message; the log has the error', async () => {
      const { decisions, logged } = await open({
        getDecision: () => Promise.reject(new TypeError('SIN 046 454 286')),
      });
      const fault = await faultOf(decisions.getDecision(GET_DECISION, context));
      expect(fault).toMatchObject({ kind: 'internal', message: 'internal error', fields: [] });
      const line = logged().find(({ level }) => level === 'error');
      expect(line).toMatchObject({ code: 'internal', err: { name: 'TypeError' } });
      expect(JSON.stringify(fault)).not.toContain('046');
    });

    test('that a peer answered to the handler is not passed on as it is', async () => {
      let peerFault = new Fault('not_found', 'x', 'a record that the caller did not name', {
        fromPeer: true,
      });
      const { decisions } = await open({ getDecision: () => Promise.reject(peerFault) });
      expect(await faultOf(decisions.getDecision(GET_DECISION, context))).toMatchObject({
        kind: 'internal',
        message: 'internal error',
      });
      peerFault = new Fault('unavailable', 'unavailable', 'no connection', {
        fromPeer: true,
        retryAfterS: 3,
      });
      expect(await faultOf(decisions.getDecision(GET_DECISION, context))).toMatchObject({
        kind: 'unavailable',
        message: 'a required service is unavailable',
        retryAfterS: 3,
      });
    });

    test('for an answer that cannot be encoded is internal', async () => {
      const { decisions } = await open({
        getDecision: async () => ({ decision: { term: 1.5 } }),
      });
      expect(await faultOf(decisions.getDecision(GET_DECISION, context))).toMatchObject({
        kind: 'internal',
      });
    });

    test('for a message that is too large is sent before the message is decoded', async () => {
      const { decisions, handled } = await open({ maxMessageBytes: 1_000 });
      const request = { ...GET_DECISION, limit: 1, cursor: 'x'.repeat(5_000) };
      expect(await faultOf(decisions.listDecisions(request, context))).toMatchObject({
        kind: 'resource_exhausted',
      });
      expect(handled).toEqual([]);
    });
  });
});
