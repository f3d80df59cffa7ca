// A client of the REST interface for the demo data.
/** Calls the REST interface with one key. Throws an Error that quotes any answer but success. */
export class ApiCaller {
  readonly #baseUrl: string;
  readonly #key: string;

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  put(path: string, body?: unknown) {
    return this.#call('PUT', path, body);
  }

  post(path: string, body?: unknown) {
    return this.#call('POST', path, body);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the answers' shapes are the OpenAPI document's.
  async #call(method: string, path: string, body: unknown): Promise<any> {
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
}
