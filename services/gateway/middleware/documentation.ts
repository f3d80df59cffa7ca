/** The documentation for people: the OpenAPI document, and a page that shows it from bundled files. */
import { readFileSync } from 'node:fs';
import { notFound } from '@creditlane/rpc/fault';
import Router from '@koa/router';
import type { OpenApiDocument } from '../document/openapi-document.ts';
import { StaticFile } from '../http/static-file.ts';
import { requireDecodable, STRICT_ROUTES } from '../routes.ts';

const DOCUMENT_PATH = '/v1/openapi.json';
/**
 * Swagger UI shows the document, its webhooks among it, under POLICY without a message in the console of
 * Chromium 156. Of two others that also have a search and code samples, Redoc 2.5.4 shows nothing under POLICY,
 * because its style sheets are inline, and Scalar 1.46.4 has 62 refused styles; compressed, their scripts are
 * 0.33 and 0.99 MB to 0.46.
 */
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

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const FROM_LIBRARY: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': SCRIPT_TYPE,
  'favicon-32x32.png': 'image/png',
};

/** The browser asks each time whether its copy is still the current one. */
const ASK = 'no-cache';
/** The URL names the version of its content, so the content of the URL never changes. */
const KEEP = 'public, max-age=31536000, immutable';

/** Serves the OpenAPI document, and the page that shows it, to GET without a key. */
export function documentation(document: OpenApiDocument): Router {
  const json = new StaticFile('application/json; charset=utf-8', JSON.stringify(document));
  const files = loadFiles();
  const page = new StaticFile('text/html; charset=utf-8', pageOf(files));
  return new Router(STRICT_ROUTES)
    .get(DOCUMENT_PATH, (ctx) => json.send(ctx, ASK))
    .get('/docs', (ctx) => {
      ctx.set('Content-Security-Policy', POLICY);
      return page.send(ctx, ASK);
    })
    .get('/docs/:file', (ctx) => {
      requireDecodable(ctx.path);
      const file = files.get(ctx.params.file ?? '');
      if (file === undefined) throw notFound('route_not_found', 'there is no such page');
      return file.send(ctx, ctx.querystring === `v=${file.version}` ? KEEP : ASK);
    });
}

/** The files that the page loads, by name. */
function loadFiles(): ReadonlyMap<string, StaticFile> {
  const ofLibrary = Object.entries(FROM_LIBRARY).map(([name, type]) => {
    return [name, new StaticFile(type, readFileSync(new URL(name, LIBRARY)))] as const;
  });
  return new Map([...ofLibrary, ['start.js', new StaticFile(SCRIPT_TYPE, START)]]);
}

/** The page, whose links name the versions of the files that it loads. */
function pageOf(files: ReadonlyMap<string, StaticFile>): string {
  const link = (name: string) => `/docs/${name}?v=${files.get(name)?.version}`;
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Creditlane API</title>
  <link rel="icon" type="image/png" href="${link('favicon-32x32.png')}">
  <link rel="stylesheet" href="${link('swagger-ui.css')}">
</head>
<body>
  <div id="docs"></div>
  <noscript>This page needs JavaScript; the document itself is at <a href="${DOCUMENT_PATH}">${DOCUMENT_PATH}</a>.</noscript>
  <script src="${link('swagger-ui-bundle.js')}"></script>
  <script src="${link('start.js')}"></script>
</body>
</html>
`;
}
