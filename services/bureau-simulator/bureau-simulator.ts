/**
 * The bureau simulator: two credit bureaus for development and tests, in their wire formats over HTTP. Nobody's
 * file is in it: the personas and all other persons are made up.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { torontoDate } from '@creditlane/runtime/calendar-date';
import { systemClock } from '@creditlane/runtime/clock';
import {
  answerError,
  answerJson,
  readBody,
  startDevelopmentServer,
} from '@creditlane/runtime/http/development-server';
import type { Timeouts } from '@creditlane/runtime/http/limited-server';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { type Accounts, DEMO_ACCOUNTS } from './accounts.ts';
import type { Bureau } from './bureau.ts';
import { AccessTokens } from './equifax/access-tokens.ts';
import { createEquifax } from './equifax/receive.ts';
import { InquiryLog } from './inquiry-log.ts';
import { findPersona, listPersonas, writeAnswer } from './personas/personas.ts';
import { sendAnswer } from './send-answer.ts';
import { createTransUnion } from './transunion/receive.ts';

export interface BureauSimulatorOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  log: Log;
  /** The retailers that the bureaus know; those of the demo when left out. */
  accounts?: Accounts;
  timeouts?: Timeouts;
}

export interface BureauSimulator {
  url: string;
  /** The base URLs for credentials. */
  equifaxUrl: string;
  transUnionUrl: string;
  /** Ends the access tokens that were given out. */
  endTokens: () => void;
  close: () => Promise<void>;
}

/** A request for a file has some 2 KB. */
const MAX_BODY_BYTES = 256 * 1024;

/**
 * Starts the simulator. Rejects with the system's error when it cannot listen on the port.
 *
 * `POST` to `/equifax` or `/transunion`, or below, is a request to that bureau; `/oauth` is Equifax's, too. `GET /inquiries` lists the
 * hard inquiries, `GET /personas` the names that get special answers.
 */
export async function startBureauSimulator(
  options: BureauSimulatorOptions,
): Promise<BureauSimulator> {
  const { accounts = DEMO_ACCOUNTS } = options;
  const tokens = new AccessTokens(accounts.equifax);
  const inquiries = new InquiryLog();
  const equifax = createEquifax({ accounts: accounts.equifax, tokens });
  const bureaus: Readonly<Record<string, Bureau>> = {
    equifax,
    // A token URL may be relative to the server instead of to the base URL.
    oauth: equifax,
    transunion: createTransUnion(accounts.transUnion),
  };
  const pages: Readonly<Record<string, () => unknown>> = {
    '': () => ({ GET: ['/personas', '/inquiries'], POST: ['/equifax', '/transunion'] }),
    inquiries: () => inquiries.all(),
    personas: () => listPersonas(),
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const [path = ''] = (request.url ?? '').split('?');
    const [, name = ''] = path.split('/');
    const bureau = Object.hasOwn(bureaus, name) ? bureaus[name] : undefined;
    const page = Object.hasOwn(pages, path.slice(1)) ? pages[name] : undefined;
    if (bureau === undefined && page === undefined) {
      return answerError(response, 404, 'nothing here: GET / lists the paths');
    }
    const method = bureau === undefined ? 'GET' : 'POST';
    if (request.method !== method) {
      response.setHeader('allow', method);
      return answerError(response, 405, 'this path does not have the method');
    }
    if (bureau === undefined) return answerJson(response, 200, page?.());
    const body = await readBody(request, MAX_BODY_BYTES);
    if (body === undefined) return answerError(response, 413, 'more than 256 KiB');
    await answerInquiry(bureau, inquiries, { request, body, response });
  };

  const { host, port, log, timeouts } = options;
  const server = await startDevelopmentServer({
    name: 'the bureau simulator',
    host,
    port,
    log,
    timeouts,
    handle,
  });
  return {
    ...server,
    equifaxUrl: `${server.url}/equifax`,
    transUnionUrl: `${server.url}/transunion`,
    endTokens: () => tokens.endAll(),
  };
}

/** Counts the inquiry, whatever comes of it, and answers as its persona behaves. */
async function answerInquiry(
  bureau: Bureau,
  inquiries: InquiryLog,
  { request, body, response }: { request: IncomingMessage; body: string; response: ServerResponse },
): Promise<void> {
  const received = bureau(request, body, response);
  if (received === undefined) return;
  const { form, inquiry, refusal } = received;
  if (inquiry !== undefined) inquiries.add(inquiry.source, inquiry.lastName);
  if (refusal !== undefined) return sendAnswer(response, refusal, form);
  if (inquiry === undefined) throw new Error('a request without an inquiry was not refused');
  const persona = findPersona(inquiry.source, inquiry);
  const xml = writeAnswer({ ...inquiry, date: torontoDate(systemClock()) }, persona);
  await sendAnswer(response, xml, form, persona?.behaviour);
}
