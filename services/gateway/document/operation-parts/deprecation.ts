/** The headers by which every answer of a deprecated operation says so: RFC 9745 and RFC 8594. */
import { dayOf, isCalendarDate } from '@creditlane/runtime/calendar-date';

/** What the OpenAPI document says of an operation that is to be replaced. */
export interface DescribedDeprecation {
  deprecated?: boolean;
  /** The date from which the operation is deprecated; required where it is. */
  'x-deprecated-at'?: string;
  /** The date from which the operation may no longer be served. */
  'x-sunset-at'?: string;
  /** The page that says what replaces the operation; the documentation page when left out. */
  'x-deprecation-link'?: string;
}

/** The documentation page, relative to a route: the server may be below a path of a proxy. */
function documentationFrom(route: string): string {
  return `${'../'.repeat(route.split('/').length - 2)}docs`;
}

/**
 * The headers by name; undefined for an operation that is not deprecated. Throws an Error when a date is missing
 * or no date, when the operation would end before it is deprecated, or when it has a date and is not deprecated.
 */
export function deprecationHeaders(
  {
    deprecated = false,
    'x-deprecated-at': deprecatedAt,
    'x-sunset-at': sunsetAt,
    'x-deprecation-link': link,
  }: DescribedDeprecation,
  route: string,
): Record<string, string> | undefined {
  if (!deprecated && deprecatedAt === undefined && sunsetAt === undefined) return undefined;
  if (!deprecated) throw new Error('must be deprecated to have x-deprecated-at or x-sunset-at');
  const deprecatedMs = startOf('x-deprecated-at', deprecatedAt);
  const sunsetMs = sunsetAt === undefined ? undefined : startOf('x-sunset-at', sunsetAt);
  if (sunsetMs !== undefined && sunsetMs < deprecatedMs) {
    throw new Error('must not have x-sunset-at before x-deprecated-at');
  }
  return {
    Deprecation: `@${deprecatedMs / 1_000}`,
    ...(sunsetMs !== undefined && { Sunset: new Date(sunsetMs).toUTCString() }),
    Link: `<${link ?? documentationFrom(route)}>; rel="deprecation"; type="text/html"`,
  };
}

/** The start of a calendar date in UTC, in milliseconds. */
function startOf(name: string, date: string | undefined): number {
  if (date === undefined || !isCalendarDate(date)) {
    throw new Error(`must have a date such as 2026-03-31 in ${name}`);
  }
  return dayOf(date).getTime();
}
