/** The documentation for people: the OpenAPI document, and a page that shows it from bundled files. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { notFound } from '@creditlane/rpc/fault';
import Router from '@koa/router';
import type { Context } from 'koa';
import type { OpenApiDocument } from '../document/openapi-document.ts';
import { requireDecodable, STRICT_ROUTES } from '../routes.ts';

const DOCUMENT_PATH = '/v1/openapi.json';
const LIBRARY = new URL('./', import.meta.resolve('swagger-ui-dist/package.json'));

/** All content comes from this server; `data:` is for the icons in the library's style sheet. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Creditlane API</title>
  <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
  <link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
  <div id="docs"></div>
  <noscript>This page needs JavaScript; the document itself is at <a href="${DOCUMENT_PATH}">${DOCUMENT_PATH}</a>.</noscript>
  <script src="/docs/swagger-ui-bundle.js"></script>
  <script src="/docs/start.js"></script>
</body>
</html>
`;

/** The script of the page. It disables the validator badge, which sends the document's URL to another server. */
const START = `SwaggerUIBundle({
  url: '${DOCUMENT_PATH}',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  persistAuthorization: true,
  validatorUrl: null,
});
`;

const FROM_LIBRARY: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Serves the OpenAPI document, and the page that shows it, to GET without a key. */
export function documentation(document: OpenApiDocument): Router {
  const json = Buffer.from(JSON.stringify(document));
  return new Router(STRICT_ROUTES)
    .get(DOCUMENT_PATH, async (ctx) => send(ctx, 'application/json; charset=utf-8', json))
    .get('/docs', async (ctx) => {
      ctx.set('Content-Security-Policy', POLICY);
      send(ctx, 'text/html; charset=utf-8', Buffer.from(PAGE));
    })
    .get('/docs/:file', async (ctx) => {
      requireDecodable(ctx.path);
      const { file = '' } = ctx.params;
      if (file === 'start.js') {
        send(ctx, 'text/javascript; charset=utf-8', Buffer.from(START));
        return;
      }
      const type = Object.hasOwn(FROM_LIBRARY, file) ? FROM_LIBRARY[file] : undefined;
      if (type === undefined) throw notFound('route_not_found', 'there is no such page');
      send(ctx, type, await readFile(fileURLToPath(new URL(file, LIBRARY))));
    });
}

function send(ctx: Context, type: string, content: Buffer): void {
  const etag = `"${createHash('sha256').update(content).digest('base64url')}"`;
  ctx.set('Content-Type', type);
  ctx.set('Cache-Control', 'no-cache');
  ctx.set('ETag', etag);
  const isCached = ctx.get('If-None-Match') === etag;
  ctx.status = isCached ? 304 : 200;
  ctx.body = isCached ? null : content;
}
