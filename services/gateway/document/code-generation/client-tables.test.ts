import { describe, expect, test } from 'vitest';
import type { OpenApiDocument } from '../openapi-document.ts';
import { clientTables } from './client-tables.ts';

const SIGNATURE = { name: 'X-SERVICE-SIGNATURE', in: 'header', schema: {} };

function documentWith(part: object): OpenApiDocument {
  return { paths: {}, webhooks: {}, components: {}, ...part } as unknown as OpenApiDocument;
}

function webhook(schema: object, parameters: object[] = [SIGNATURE]): object {
  const requestBody = { content: { 'application/json': { schema } } };
  return { webhooks: { happened: { post: { parameters, requestBody } } } };
}

describe('the tables of the client', () => {
  test('have method and path of each operation, and the largest page of a list', () => {
    const parameters = [
      { name: 'limit', in: 'query', schema: { maximum: 50 } },
      { $ref: '#/components/parameters/Cursor' },
    ];
    const list = { operationId: 'listThings', parameters, responses: {} };
    const text = clientTables(
      documentWith({
        paths: { '/things/{id}': { get: list, delete: { operationId: 'drop', responses: {} } } },
        components: { parameters: { Cursor: { name: 'cursor', in: 'query', schema: {} } } },
      }),
    );
    expect(text).toContain('listThings: {"method":"GET","path":"/things/{id}","pageSize":50},');
    expect(text).toContain('drop: {"method":"DELETE","path":"/things/{id}"},');
  });

  test('have whether an operation takes an Idempotency-Key', () => {
    const parameters = [{ name: 'Idempotency-Key', in: 'header', schema: {} }];
    const put = { operationId: 'setThing', parameters, responses: {} };
    expect(clientTables(documentWith({ paths: { '/thing': { put } } }))).toContain(
      'setThing: {"method":"PUT","path":"/thing","takesKey":true},',
    );
  });

  test('have the content type of an operation that answers with other content than JSON', () => {
    const responses = { 200: { content: { 'application/pdf': {} } }, 400: { content: {} } };
    const paths = { '/file': { get: { operationId: 'getFile', responses } } };
    expect(clientTables(documentWith({ paths }))).toContain('"accept":"application/pdf"');
  });

  test('have the status of a webhook, or else the fields that it must have, through references', () => {
    const Event = { required: ['retailerId', 'status'], properties: { status: {} } };
    const components = { schemas: { Event } };
    const allOf = [{ $ref: '#/components/schemas/Event' }];
    const withStatus = webhook({ allOf, properties: { status: { const: 'BOOKED' } } });
    expect(clientTables(documentWith({ ...withStatus, components }))).toContain(
      'happened: {"signatureHeader":"X-SERVICE-SIGNATURE","status":"BOOKED"},',
    );
    expect(clientTables(documentWith({ ...webhook({ allOf }), components }))).toContain(
      '"required":["retailerId","status"]',
    );
  });

  test('are not made for a webhook without a signature header', () => {
    expect(() => clientTables(documentWith(webhook({}, [])))).toThrow(/happened has no signature/);
  });
});
