import { create, createFileRegistry, setExtension } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, MethodOptionsSchema } from '@bufbuild/protobuf/wkt';
import { type Access, AccessSchema, access, Caller } from '@creditlane/proto/common/v1/access';
import { describe, expect, test } from 'vitest';
import { type Identity, serviceIdentity } from '../identity.ts';
import { accessOptionOf, findAccessFault } from './access.ts';

const integration: Identity = { kind: 'integration', subject: 'i', permissions: ['DECIDE'] };
const platform: Identity = { kind: 'platform', subject: 'p', permissions: [] };
const decisions = serviceIdentity('decisions');

describe('access to a method', () => {
  test('without an access option no caller is admitted', () => {
    const access = accessOptionOf(methodWith());
    for (const identity of [integration, platform, decisions]) {
      expect(findAccessFault(access, identity)).toMatchObject({ code: 'caller_not_allowed' });
    }
  });

  test('only the kinds of caller in the option are admitted', () => {
    const access = create(AccessSchema, { callers: [Caller.INTEGRATION] });
    expect(findAccessFault(access, integration)).toBeUndefined();
    expect(findAccessFault(access, platform)).toMatchObject({ kind: 'forbidden' });
    expect(findAccessFault(access, decisions)).toMatchObject({ kind: 'forbidden' });
  });

  test('only the services in the option are admitted', () => {
    const access = create(AccessSchema, { peers: ['decisions'] });
    expect(findAccessFault(access, decisions)).toBeUndefined();
    expect(findAccessFault(access, serviceIdentity('gateway'))).toMatchObject({
      kind: 'forbidden',
    });
    // An integration with the name of an admitted service is not admitted.
    expect(findAccessFault(access, { ...integration, subject: 'decisions' })).toMatchObject({
      kind: 'forbidden',
    });
  });

  test('a caller without the permission in the option is not admitted', () => {
    const callers = [Caller.INTEGRATION];
    const permitted = create(AccessSchema, { callers, permission: 'DECIDE' });
    const notPermitted = create(AccessSchema, { callers, permission: 'COMMENT' });
    expect(findAccessFault(permitted, integration)).toBeUndefined();
    expect(findAccessFault(notPermitted, integration)).toMatchObject({
      code: 'permission_missing',
    });
  });
});

test('a method that admits platform keys needs a permission', () => {
  const callers = [Caller.PLATFORM];
  const accessTo = (option: { callers: Caller[]; permission?: string }) =>
    accessOptionOf(methodWith(create(AccessSchema, option)));
  expect(() => accessTo({ callers })).toThrow('admits platform keys without a permission');
  expect(accessTo({ callers, permission: 'DECIDE' })).toMatchObject({ permission: 'DECIDE' });
});

function methodWith(option?: Access) {
  const options = create(MethodOptionsSchema);
  if (option) setExtension(options, access, option);
  const file = create(FileDescriptorProtoSchema, {
    name: 'open.proto',
    syntax: 'proto3',
    messageType: [{ name: 'Nothing' }],
    service: [
      {
        name: 'Open',
        method: [{ name: 'Do', inputType: '.Nothing', outputType: '.Nothing', options }],
      },
    ],
  });
  const method = createFileRegistry(file, () => undefined).getService('Open')?.methods[0];
  if (method === undefined) throw new Error('the descriptor has no method');
  return method;
}
