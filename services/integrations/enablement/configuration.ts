/**
 * The configuration of an integration that a retailer gives when it enables the integration: any JSON object.
 * It may hold secrets, so it is stored sealed, and neither logged nor published.
 */
import { isDeepStrictEqual } from 'node:util';
import { SealError } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedValue } from '@creditlane/crypto/sealed-column';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import { sealedConfigurations } from '../store/sealed-tables.ts';

/** Every attempt at the webhook sends the whole configuration. */
const MAX_BYTES = 32 * 1024;
const MAX_LEVELS = 16;

/** The enablement that a configuration belongs to. */
export interface ConfigurationOwner {
  readonly id: string;
  readonly integrationId: string;
}

/**
 * Refuses a text that is no JSON object or is too large. An empty text means that there is no configuration.
 *
 * @throws Fault `invalid_configuration`, which repeats no part of the text
 */
export function checkConfiguration(text: string): void {
  if (text === '') return;
  const faults = new FieldFaults();
  const message = faultOf(text);
  if (message !== undefined) faults.add('/configJson', message);
  faults.throwIfAny('invalid_configuration');
}

function faultOf(text: string): string | undefined {
  if (Buffer.byteLength(text) > MAX_BYTES) return `must have at most ${MAX_BYTES} bytes as JSON`;
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'must be an object';
  }
  return hasMoreLevels(value, MAX_LEVELS) ? `must have at most ${MAX_LEVELS} levels` : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Looks no deeper than `levels`, so that no text makes it recurse further. */
function hasMoreLevels(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => hasMoreLevels(member, levels - 1));
}

/** Whether two checked configurations say the same. The order of an object's members says nothing. */
export function isSameConfiguration(one: string, other: string): boolean {
  return isDeepStrictEqual(parse(one), parse(other));
}

/** What is stored of a configuration: nulls without one. */
type StoredConfiguration = SealedValue | { sealed: null; sealedWith: null };

export function sealConfiguration(
  keyRing: KeyRing,
  text: string,
  { id, integrationId }: ConfigurationOwner,
): StoredConfiguration {
  if (text === '') return { sealed: null, sealedWith: null };
  return sealedConfigurations.seal(keyRing, Buffer.from(text), id, integrationId);
}

/**
 * The text of a configuration; empty without one. Undefined when it can never be decrypted, because the stored
 * bytes are damaged or the key ring has another key under its key's id.
 *
 * @throws UnknownKeyError while the key ring lacks its key
 */
export function unsealConfiguration(
  keyRing: KeyRing,
  { id, integrationId, sealed }: ConfigurationOwner & Pick<StoredConfiguration, 'sealed'>,
): string | undefined {
  if (sealed === null) return '';
  try {
    return sealedConfigurations.unseal(keyRing, sealed, id, integrationId).toString();
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
