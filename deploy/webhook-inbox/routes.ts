// What the inbox answers to each method and path.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Behaviour } from './behaviour.ts';
import type { LiveUpdates } from './live-updates.ts';
import type { Page } from './page.ts';
import type { ReceivedWebhook, ReceivedWebhooks } from './received-webhooks.ts';
import { readBody } from './request-body.ts';
import { checkSignatures, type Verdicts } from './signatures.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** The answers: what receives deliveries on any path, and each path's other methods. */
export interface Routes {
  receive: Answer;
  paths: Record<string, Record<string, Answer>>;
}

export interface RouteDeps {
  arrivals: ReceivedWebhooks;
  behaviour: Behaviour;
  page: Page;
  watchers: LiveUpdates;
  secrets: () => string[];
}

/** Puts the parts of the inbox behind its paths. */
export function createRoutes({ arrivals, behaviour, page, watchers, secrets }: RouteDeps): Routes {
  const shown = (arrival: ReceivedWebhook): ReceivedWebhook & { signatures: Verdicts } => ({
    ...arrival,
    signatures: checkSignatures(arrival, secrets()),
  });
  const showBehaviour = (response: ServerResponse) => answerJson(response, 200, behaviour.state());

  return {
    async receive(request, response) {
      const body = await readBody(request);
      if (body === undefined) refuse(response, 413, 'more than 1 MiB');
      else if (behaviour.answerInstead(response)) watchers.tell('behaviour', behaviour.state());
      else {
        watchers.tell('arrival', shown(arrivals.add(request, body)));
        response.writeHead(204).end();
      }
    },
    paths: {
      '/': {
        GET(request, response) {
          if (request.headers.accept?.includes('text/html')) page.answer(response);
          else answerJson(response, 200, arrivals.all().map(shown));
        },
        DELETE(_request, response) {
          arrivals.clear();
          watchers.tell('emptied', {});
          response.writeHead(204).end();
        },
      },
      '/events': {
        GET(_request, response) {
          const kept = arrivals.all().map((arrival) => ['arrival', shown(arrival)] as const);
          watchers.add(response, [['emptied', {}], ['behaviour', behaviour.state()], ...kept]);
        },
      },
      '/behaviour': {
        GET: (_request, response) => showBehaviour(response),
        async PUT(request, response) {
          const fault = behaviour.set(await readBody(request));
          if (fault !== undefined) return refuse(response, 400, fault);
          watchers.tell('behaviour', behaviour.state());
          showBehaviour(response);
        },
      },
    },
  };
}

/** What answers the request: a refusal when nothing else does. */
export function findRoute({ receive, paths }: Routes, request: IncomingMessage): Answer {
  if (request.method === 'POST') return receive;
  const [path = ''] = (request.url ?? '').split('?');
  const methods = Object.hasOwn(paths, path) ? paths[path] : undefined;
  if (methods === undefined) {
    return (_request, response) => refuse(response, 404, 'nothing here: POST delivers to any path');
  }
  const refuseMethod: Answer = (_request, response) => {
    response.setHeader('allow', ['POST', ...Object.keys(methods)].join(', '));
    refuse(response, 405, 'this path does not know the method');
  };
  return methods[request.method ?? ''] ?? refuseMethod;
}

/** Answers with an error that says why. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  answerJson(response, status, { status, message });
}

function answerJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(`${JSON.stringify(value, null, 2)}\n`);
}
