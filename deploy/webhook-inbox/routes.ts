// What the webhook inbox answers to each method and path.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerError, answerJson, readBody } from '@creditlane/runtime/http/development-server';
import type { Behaviour } from './behaviour.ts';
import type { LiveUpdates } from './live-updates.ts';
import type { Page } from './page.ts';
import type { ReceivedWebhook, ReceivedWebhooks } from './received-webhooks.ts';
import { checkSignatures, readSecret, type Verdicts } from './signatures.ts';

const MAX_BODY_BYTES = 1024 * 1024;

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** The handler of webhooks on any path, and those of the other methods by path. */
export interface Routes {
  receive: Answer;
  paths: Record<string, Record<string, Answer>>;
}

export interface RouteDeps {
  received: ReceivedWebhooks;
  behaviour: Behaviour;
  page: Page;
  watchers: LiveUpdates;
  secrets: () => string[];
  addSecret: (secret: string) => Promise<void>;
}

/** Connects the parts of the webhook inbox with its paths. */
export function createRoutes(deps: RouteDeps): Routes {
  const { received, behaviour, page, watchers, secrets, addSecret } = deps;
  const withVerdicts = (webhook: ReceivedWebhook): ReceivedWebhook & { signatures: Verdicts } => ({
    ...webhook,
    signatures: checkSignatures(webhook, secrets()),
  });
  const showBehaviour = (response: ServerResponse) => answerJson(response, 200, behaviour.state());

  return {
    async receive(request, response) {
      const body = await readBody(request, MAX_BODY_BYTES);
      if (body === undefined) answerError(response, 413, 'more than 1 MiB');
      else if (behaviour.answerWithFailure(response)) watchers.send('behaviour', behaviour.state());
      else {
        watchers.send('arrival', withVerdicts(received.add(request, body)));
        response.writeHead(204).end();
      }
    },
    paths: {
      '/': {
        GET(request, response) {
          if (request.headers.accept?.includes('text/html')) page.answer(response);
          else answerJson(response, 200, received.all().map(withVerdicts));
        },
        DELETE(_request, response) {
          received.clear();
          watchers.send('emptied', {});
          response.writeHead(204).end();
        },
      },
      '/events': {
        GET(_request, response) {
          const stored = received
            .all()
            .map((webhook) => ['arrival', withVerdicts(webhook)] as const);
          watchers.add(response, [['emptied', {}], ['behaviour', behaviour.state()], ...stored]);
        },
      },
      '/behaviour': {
        GET: (_request, response) => showBehaviour(response),
        async PUT(request, response) {
          const refusal = behaviour.set(await readBody(request, MAX_BODY_BYTES));
          if (refusal !== undefined) return answerError(response, 400, refusal);
          watchers.send('behaviour', behaviour.state());
          showBehaviour(response);
        },
      },
      '/secret': {
        async PUT(request, response) {
          const secret = readSecret(await readBody(request, MAX_BODY_BYTES));
          if (secret === undefined)
            return answerError(response, 400, 'expected {"secret": "whsec_…"}');
          await addSecret(secret);
          response.writeHead(204).end();
        },
      },
    },
  };
}

/** The handler of a request; for an unknown path or method, one that refuses. */
export function findRoute({ receive, paths }: Routes, request: IncomingMessage): Answer {
  if (request.method === 'POST') return receive;
  const [path = ''] = (request.url ?? '').split('?');
  const methods = Object.hasOwn(paths, path) ? paths[path] : undefined;
  if (methods === undefined) {
    return (_request, response) =>
      answerError(response, 404, 'nothing here: POST delivers to any path');
  }
  const refuseMethod: Answer = (_request, response) => {
    response.setHeader('allow', ['POST', ...Object.keys(methods)].join(', '));
    answerError(response, 405, 'this path does not have the method');
  };
  return methods[request.method ?? ''] ?? refuseMethod;
}
