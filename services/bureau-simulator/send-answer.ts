/** Answers an inquiry over HTTP as its persona behaves, failures of the connection included. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Behaviour } from './personas/persona.ts';

/** What the transport of an inquiry adds to the answer's XML. */
export interface AnswerForm {
  contentType: string;
  /** The body with the XML of an answer, such as a SOAP message. */
  wrap: (xml: string) => string;
}

const MIB = 1024 * 1024;
const OVERSIZED_MIB = 64;
/** Ten entities of ten times the one before: 10 GB of text if they were expanded. */
const ENTITY_BOMB = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE bomb [
 <!ENTITY e0 "boom">
${Array.from({ length: 9 }, (_, index) => ` <!ENTITY e${index + 1} "${`&e${index};`.repeat(10)}">`).join('\n')}
]>
<EfxTransmit xmlns="http://www.equifax.ca/XMLSchemas/EfxToCust"><EfxReport>&e9;</EfxReport></EfxTransmit>
`;
const NO_XML = '<!doctype html><html><body><h1>Scheduled maintenance<br></h1></body></html>\n';

/** Sends the answer with this XML. Resolves when it is sent, or when the client has closed the connection. */
export async function sendAnswer(
  response: ServerResponse,
  xml: string,
  form: AnswerForm,
  behaviour: Behaviour = { kind: 'answer' },
): Promise<void> {
  const send = (status: number, body: string) => {
    response.writeHead(status, { 'content-type': form.contentType });
    response.end(body);
  };
  switch (behaviour.kind) {
    case 'answer':
      if (behaviour.delayMs !== undefined) await waitOpen(response, behaviour.delayMs);
      return send(200, form.wrap(xml));
    case 'http-error':
      response.setHeader('retry-after', '60');
      response.writeHead(behaviour.status, { 'content-type': 'text/plain' });
      response.end('The bureau takes no inquiries at present.\n');
      return;
    case 'hang':
      await once(response, 'close');
      return;
    case 'drop':
      response.destroy();
      return;
    case 'cut': {
      const body = Buffer.from(form.wrap(xml));
      response.writeHead(200, {
        'content-type': form.contentType,
        'content-length': body.length,
      });
      response.write(body.subarray(0, body.length / 2), () => response.destroy());
      return;
    }
    case 'malformed':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(NO_XML);
      return;
    case 'truncated': {
      const body = form.wrap(xml);
      return send(200, body.slice(0, body.length / 2));
    }
    case 'oversized':
      return sendOversized(response, form.contentType);
    case 'entity-bomb':
      // Without the transport's own XML: inside of a SOAP message it would be a text.
      return send(200, ENTITY_BOMB);
  }
}

/** Resolves after the time, or as soon as the connection is closed. */
async function waitOpen(response: ServerResponse, timeMs: number): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  await delay(timeMs, undefined, { signal: closed.signal }).catch(() => undefined);
}

/** An answer that is one long comment, written no faster than the client reads. */
async function sendOversized(response: ServerResponse, contentType: string): Promise<void> {
  response.writeHead(200, { 'content-type': contentType });
  const chunk = Buffer.alloc(MIB, 'x');
  const contents = function* () {
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<!--';
    for (let sent = 0; sent < OVERSIZED_MIB; sent += 1) yield chunk;
    yield '-->\n<EfxTransmit xmlns="http://www.equifax.ca/XMLSchemas/EfxToCust"/>\n';
  };
  // The client closes the connection when it has read enough.
  await pipeline(contents, response).catch(() => undefined);
}
