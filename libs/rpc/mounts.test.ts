// The promises of a call, held by each of the three mounts.
import { create } from '@bufbuild/protobuf';
import {
  DecisionsService,
  ListDecisionsRequestSchema,
} from '@creditlane/proto/decisions/v1/decisions_service';
import {
  AccessService,
  IntegrationsService,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { describe, expect, test } from 'vitest';
import { type CallContext, connect } from './client.ts';
import { openTransport } from './endpoint.ts';
import { conflict, Fault, invalid, notFound, unavailable } from './fault.ts';
import { type Identity, serviceIdentity, TokenSigner } from './identity.ts';
import {
  MOUNTS,
  REQUEST,
  refused,
  startTestService,
  TEST_INTEGRATION,
  TEST_KEYS,
  type TestServiceOptions,
} from './test-service.ts';

const context: CallContext = { identity: TEST_INTEGRATION };

describe.each(MOUNTS)('over %s', (mount) => {
  const open = (options?: TestServiceOptions) => startTestService(mount, options);

  describe('the door', () => {
    const tooLarge = create(ListDecisionsRequestSchema, { cursor: 'x'.repeat(5_000) });

    test('a call without a token is refused before its body is read', async () => {
      const { target, closers } = await open({ readMaxBytes: 1_000 });
      const { transport, close } = openTransport(target);
      closers.add('transport', close);
      const method = DecisionsService.method.listDecisions;
      const call = transport.unary(method, undefined, 2_000, {}, tooLarge);
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
        what: 'a token made out to another service',
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
        what: 'a token signed with another key than its issuer’s',
        signedBy: { ...fromGateway, privateKey: TEST_KEYS.stranger.privateKey },
        code: 'token_invalid',
      },
      {
        what: 'a service that brings a caller from outside, as only the gateway may',
        signedBy: fromApplications,
        code: 'token_invalid',
      },
      {
        what: 'a service under another’s name',
        signedBy: fromApplications,
        identity: serviceIdentity('gateway'),
        code: 'token_invalid',
      },
      {
        what: 'a kind of caller that the method does not name',
        signedBy: fromGateway,
        identity: platform,
        code: 'caller_not_allowed',
      },
      {
        what: 'a service that the method does not name',
        signedBy: fromGateway,
        identity: serviceIdentity('gateway'),
        code: 'caller_not_allowed',
      },
    ])('$what is refused before the body is read', async (refusal) => {
      const { signedBy, audience = 'decisions', identity = TEST_INTEGRATION, code } = refusal;
      const { target, closers, handled } = await open({ readMaxBytes: 1_000 });
      const signer = new TokenSigner(signedBy);
      const client = connect(DecisionsService, target, { signer, audience, closers });
      // Had the body been read, its size would have been the reason.
      const fault = await refused(client.listDecisions(tooLarge, { identity }));
      const kind = code === 'caller_not_allowed' ? 'forbidden' : 'unauthenticated';
      expect(fault).toMatchObject({ kind, code });
      expect(handled).toEqual([]);
    });

    test('a caller that lacks the method’s permission is refused, with the permission named', async () => {
      const { clientOf } = await open();
      const integrations = clientOf(IntegrationsService);
      const revoke = { integrationId: REQUEST.applicationId, keyId: REQUEST.applicationId };
      const holding = (...permissions: string[]) => ({ identity: { ...platform, permissions } });
      await integrations.revokeKey(revoke, holding('MANAGE_INTEGRATIONS'));
      expect(
        await refused(integrations.revokeKey(revoke, holding('MANAGE_DIRECTORY'))),
      ).toMatchObject({
        kind: 'forbidden',
        code: 'permission_missing',
        message: expect.stringContaining('MANAGE_INTEGRATIONS'),
      });
    });

    test('a peer that the method names may call it in its own name', async () => {
      const { clientOf, handled } = await open();
      const request = { keyDigest: new Uint8Array(32) };
      await clientOf(AccessService).authenticate(request, { identity: serviceIdentity('gateway') });
      expect(handled).toHaveLength(1);
    });
  });

  describe('the handler', () => {
    test('learns who calls, and what the caller passed on', async () => {
      const { decisions, handled } = await open();
      await decisions.getDecision(REQUEST, {
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

    test('gets an id made for a call whose own could forge a line of the log', async () => {
      const { decisions, handled } = await open();
      await decisions.getDecision(REQUEST, { ...context, requestId: 'a" b' });
      expect(handled[0]?.requestId).toMatch(/^[\da-f-]{36}$/);
    });

    test('sees the idempotency key with its caller, its operation and a digest of the request', async () => {
      const { decisions, handled } = await open();
      await decisions.getDecision(REQUEST, { ...context, idempotencyKey: 'k' });
      await decisions.getDecision({ ...REQUEST }, { ...context, idempotencyKey: 'k' });
      await decisions.getDecision(
        { ...REQUEST, creditorId: '6a2f41a3-c54c-4c3e-9d7a-000000000000' },
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

    test('shares no object with its caller', async () => {
      const kept = { decision: { conditions: 'as sent' } };
      const { decisions } = await open({
        async getDecision(request) {
          request.applicationId = 'changed';
          return kept;
        },
      });
      const request = { ...REQUEST };
      const answer = await decisions.getDecision(request, context);
      if (answer.decision) answer.decision.conditions = 'changed';
      expect(request).toEqual(REQUEST);
      expect(kept.decision.conditions).toBe('as sent');
    });

    test('tells the caller when its answer is a replay', async () => {
      const { decisions } = await open({
        async getDecision(_request, call) {
          if (call.idempotency?.key === 'known') call.markReplayed();
          return {};
        },
      });
      const replays: string[] = [];
      for (const idempotencyKey of ['known', 'new']) {
        const onReplayed = () => replays.push(idempotencyKey);
        await decisions.getDecision(REQUEST, { ...context, idempotencyKey, onReplayed });
      }
      expect(replays).toEqual(['known']);
    });
  });

  describe('a refusal', () => {
    test('of a request that breaks its rules names each field', async () => {
      const { decisions, handled } = await open();
      const request = {
        ...REQUEST,
        applicationId: 'x',
        decision: { firstPaymentDate: '2026-01-01x' },
      };
      const fault = await refused(decisions.recordDecision(request, context));
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
      conflict('already_submitted', 'it was submitted before'),
      invalid('idempotency_key_reused', 'the key was used', [{ pointer: '/a~1b', message: 'é' }]),
      unavailable('later', 7),
    ])('by a handler arrives as the fault it was: %s', async (thrown) => {
      const { decisions } = await open({ recordDecision: () => Promise.reject(thrown) });
      const request = { ...REQUEST, decision: { decision: 1 } };
      const fault = await refused(decisions.recordDecision(request, context));
      const { kind, code, message, fields, retryAfterS } = thrown;
      expect(fault).toMatchObject({ kind, code, message, fields, retryAfterS, fromPeer: true });
    });

    test('for an unknown error is internal, without its message; the log has the error', async () => {
      const { decisions, logged } = await open({
        getDecision: () => Promise.reject(new TypeError('SIN 046 454 286')),
      });
      const fault = await refused(decisions.getDecision(REQUEST, context));
      expect(fault).toMatchObject({ kind: 'internal', message: 'internal error', fields: [] });
      const line = logged().find(({ level }) => level === 'error');
      expect(line).toMatchObject({ code: 'internal', err: { name: 'TypeError' } });
      expect(JSON.stringify(fault)).not.toContain('046');
    });

    test('that a handler met at a peer is not taken for its own', async () => {
      let met = new Fault('not_found', 'x', 'of a thing the caller never named', {
        fromPeer: true,
      });
      const { decisions } = await open({ getDecision: () => Promise.reject(met) });
      expect(await refused(decisions.getDecision(REQUEST, context))).toMatchObject({
        kind: 'internal',
        message: 'internal error',
      });
      met = new Fault('unavailable', 'unavailable', 'away', { fromPeer: true, retryAfterS: 3 });
      expect(await refused(decisions.getDecision(REQUEST, context))).toMatchObject({
        kind: 'unavailable',
        message: 'a service needed for this is away',
        retryAfterS: 3,
      });
    });

    test('for an answer that cannot be encoded is internal', async () => {
      const { decisions } = await open({
        getDecision: async () => ({ decision: { term: 1.5 } }),
      });
      expect(await refused(decisions.getDecision(REQUEST, context))).toMatchObject({
        kind: 'internal',
      });
    });

    test('for a message that is too large comes before it is decoded', async () => {
      const { decisions, handled } = await open({ readMaxBytes: 1_000 });
      const request = { ...REQUEST, limit: 1, cursor: 'x'.repeat(5_000) };
      expect(await refused(decisions.listDecisions(request, context))).toMatchObject({
        kind: 'resource_exhausted',
      });
      expect(handled).toEqual([]);
    });
  });
});
