import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { invalidFields } from '@creditlane/rpc/fault';

/**
 * The times that validated fields of format `date-time` name, without those of fields that are left out.
 *
 * @param place `in` where the fields are parameters
 * @throws Fault `invalid_request` for a time in the form of RFC 3339 that no calendar has, such as 23:59:60
 */
export function readTimes<Name extends string>(
  source: { readonly [Each in Name]?: string | undefined },
  names: readonly Name[],
  place: { in?: 'query' } = {},
): { [Each in Name]?: Timestamp } {
  const times: { [Each in Name]?: Timestamp } = {};
  for (const name of names) {
    const text = source[name];
    if (text === undefined) continue;
    const time = new Date(text);
    if (Number.isNaN(time.getTime())) {
      const field = { ...place, pointer: `/${name}`, message: 'must be a date and time' };
      throw invalidFields('invalid_request', [field]);
    }
    times[name] = timestampFromDate(time);
  }
  return times;
}
