import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { invalidFields } from '@creditlane/rpc/fault';

/**
 * The time that a validated field of format `date-time` names.
 *
 * @param at the JSON Pointer to the field, and `in` where it is a parameter
 * @throws Fault `invalid_request` for a time in the form of RFC 3339 that no calendar has, such as 23:59:60
 */
export function readDateTime(text: string, at: { pointer: string; in?: 'query' }): Timestamp {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw invalidFields('invalid_request', [{ ...at, message: 'must be a date and time' }]);
  }
  return timestampFromDate(time);
}
