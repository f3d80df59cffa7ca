import { create, createFileRegistry } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { AccessSchema, Caller } from '@creditlane/proto/common/v1/access';
import { describe, expect, test } from 'vitest';
import { type Identity, serviceIdentity } from '../identity.ts';
import { accessOptionOf, findAccessFault } from './access.ts';

const integration: Identity = { kind: 'integration', subject: 'i', permissions: ['DECIDE'] };
const platform: Identity = { kind: 'platform', subject: 'p', permissions: [] };
const decisions = serviceIdentity('decisions');

describe('access to a method', () => {
  test('is nobody’s where the proto does not say', () => {
    const access = accessOptionOf(methodWithoutAccess());
    for (const identity of [integration, platform, decisions]) {
      expect(findAccessFault(access, identity)).toMatchObject({ code: 'caller_not_allowed' });
    }
  });

  test('is for the kinds of caller that it names and no others', () => {
    const access = create(AccessSchema, { callers: [Caller.INTEGRATION] });
    expect(findAccessFault(access, integration)).toBeUndefined();
    expect(findAccessFault(access, platform)).toMatchObject({ kind: 'forbidden' });
    expect(findAccessFault(access, decisions)).toMatchObject({ kind: 'forbidden' });
  });

  test('is for the services that it names and no others', () => {
    const access = create(AccessSchema, { peers: ['decisions'] });
    expect(findAccessFault(access, decisions)).toBeUndefined();
    expect(findAccessFault(access, serviceIdentity('gateway'))).toMatchObject({
      kind: 'forbidden',
    });
    // The name alone is not enough.
    expect(findAccessFault(access, { ...integration, subject: 'decisions' })).toMatchObject({
      kind: 'forbidden',
    });
  });

  test('takes the permission besides, where one is asked', () => {
    const callers = [Caller.INTEGRATION];
    const held = create(AccessSchema, { callers, permission: 'DECIDE' });
    const lacked = create(AccessSchema, { callers, permission: 'COMMENT' });
    expect(findAccessFault(held, integration)).toBeUndefined();
    expect(findAccessFault(lacked, integration)).toMatchObject({ code: 'permission_missing' });
  });
});

function methodWithoutAccess() {
  const file = create(FileDescriptorProtoSchema, {
    name: 'open.proto',
    syntax: 'proto3',
    messageType: [{ name: 'Nothing' }],
    service: [
      { name: 'Open', method: [{ name: 'Do', inputType: '.Nothing', outputType: '.Nothing' }] },
    ],
  });
  const method = createFileRegistry(file, () => undefined).getService('Open')?.methods[0];
  if (method === undefined) throw new Error('the descriptor has lost its method');
  return method;
}
