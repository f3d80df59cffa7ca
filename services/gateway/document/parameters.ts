/** The parameters of a request, before and after they are checked against the OpenAPI document. */

/** A request's parameters before validation. A query parameter that is given more than once is a list. */
export interface RawParameters {
  path: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  /** By lower-case name. */
  header: Record<string, string | string[] | undefined>;
}

/** The parameters as the document types them; UUIDs in lower case, headers by lower-case name. */
export interface Parameters {
  path: Record<string, string>;
  query: Record<string, string | number | boolean | undefined>;
  header: Record<string, string | undefined>;
}
