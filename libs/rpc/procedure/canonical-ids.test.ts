import {
  create,
  createFileRegistry,
  type DescMessage,
  type MessageInitShape,
  setExtension,
  toJson,
} from '@bufbuild/protobuf';
import {
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import {
  FieldRulesSchema,
  field as fieldRules,
} from '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js';
import {
  CreateApplicationRequestSchema,
  SubmitApplicationRequestSchema,
} from '@creditlane/proto/applications/v1/applications_service';
import {
  RegisterRetailerRequestSchema,
  RegisterUserRequestSchema,
} from '@creditlane/proto/applications/v1/directory_service';
import { describe, expect, test } from 'vitest';
import { idFieldsOf, lowerCaseIds } from './canonical-ids.ts';

const ID = '0198c0de-0000-7000-8000-00000000abcd';
const UPPER = ID.toUpperCase();

/** The message as JSON, after its ids were made lower case. */
function lowerCased<D extends DescMessage>(schema: D, init: MessageInitShape<D>) {
  const message = create(schema, init);
  lowerCaseIds(idFieldsOf(schema), message);
  return toJson(schema, message);
}

describe('ids become lower case', () => {
  test('at the top of a request, in a list, and in each message of a list; other text stays', () => {
    const request = {
      applicationId: UPPER,
      creditorIds: [UPPER, ID],
      consents: [{ applicantId: UPPER, textVersion: 'V2' }, { applicantId: UPPER }],
    };
    expect(lowerCased(SubmitApplicationRequestSchema, request)).toEqual({
      applicationId: ID,
      creditorIds: [ID, ID],
      consents: [{ applicantId: ID, textVersion: 'V2' }, { applicantId: ID }],
    });
  });

  test('in a message within a request', () => {
    const user = { userId: UPPER, firstName: 'Maya', retailerIds: [UPPER] };
    expect(lowerCased(RegisterUserRequestSchema, { user })).toEqual({
      user: { userId: ID, firstName: 'Maya', retailerIds: [ID] },
    });
  });

  test('in lists of messages within a message', () => {
    const primaryApplicant = {
      firstName: 'Maya',
      addressHistory: [{ id: UPPER, city: 'Oakville' }],
    };
    expect(lowerCased(CreateApplicationRequestSchema, { primaryApplicant })).toEqual({
      primaryApplicant: { firstName: 'Maya', addressHistory: [{ id: ID, city: 'Oakville' }] },
    });
  });

  test('in the case of a oneof that is set', () => {
    const schema = recordSchema();
    expect(lowerCased(schema, { record: { case: 'userId', value: UPPER } })).toEqual({
      userId: ID,
    });
    const named = { record: { case: 'named', value: { userId: UPPER, note: UPPER } } };
    expect(lowerCased(schema, named)).toEqual({ named: { userId: ID, note: UPPER } });
    const note = { record: { case: 'note', value: UPPER } };
    expect(lowerCased(schema, note)).toEqual({ note: UPPER });
    expect(lowerCased(schema, {})).toEqual({});
  });
});

test('fields that are not set stay so', () => {
  for (const schema of [CreateApplicationRequestSchema, SubmitApplicationRequestSchema]) {
    const message = create(schema);
    lowerCaseIds(idFieldsOf(schema), message);
    expect(message).toStrictEqual(create(schema));
  }
});

test('a text without the rule is no id', () => {
  const retailer = { retailerId: UPPER, retailerGroupId: UPPER };
  expect(lowerCased(RegisterRetailerRequestSchema, { retailer })).toEqual({
    retailer: { retailerId: ID, retailerGroupId: UPPER },
  });
});

/** A message with a oneof of an id, a text and a message with both: no request has an id in a oneof yet. */
function recordSchema(): DescMessage {
  const options = create(FieldOptionsSchema);
  const rules = { type: { case: 'string', value: { wellKnown: { case: 'uuid', value: true } } } };
  setExtension(options, fieldRules, create(FieldRulesSchema, rules as never));
  const text = { type: Type.STRING, label: Label.OPTIONAL };
  const userId = { name: 'user_id', jsonName: 'userId', number: 1, ...text, options };
  const note = { name: 'note', jsonName: 'note', number: 2, ...text };
  const named = { name: 'named', jsonName: 'named', number: 3, type: Type.MESSAGE };
  const inRecord = { oneofIndex: 0 };
  const file = create(FileDescriptorProtoSchema, {
    name: 'record.proto',
    syntax: 'proto3',
    messageType: [
      {
        name: 'Record',
        oneofDecl: [{ name: 'record' }],
        field: [
          { ...userId, ...inRecord },
          { ...note, ...inRecord },
          { ...named, ...inRecord, label: Label.OPTIONAL, typeName: '.Named' },
        ],
      },
      { name: 'Named', field: [userId, note] },
    ],
  });
  const schema = createFileRegistry(file, () => undefined).getMessage('Record');
  if (schema === undefined) throw new Error('the descriptor has no message');
  return schema;
}
