/** The documentation for people: the OpenAPI document, and a page that shows it from bundled files. */
import { readFileSync } from 'node:fs';
import { notFound } from '@creditlane/rpc/fault';
import Router from '@koa/router';
import type { OpenApiDocument } from '../document/openapi-document.ts';
import type { Operation } from '../document/operation.ts';
import { pageDocument } from '../document/published/page-document.ts';
import { publishedDocument } from '../document/published/published-document.ts';
import { JSON_UTF8_TYPE } from '../http/media-types.ts';
import { StaticFile } from '../http/static-file.ts';
import { requireDecodable, STRICT_ROUTES } from '../routes.ts';

const DOCUMENT_PATH = '/v1/openapi.json';
/** docs/documentation-page.md compares Scalar with Redoc and Swagger UI. */
const LIBRARY = new URL('./', import.meta.resolve('@scalar/api-reference/style.css'));
const LIBRARY_SCRIPT = 'browser/standalone.js';

/**
 * All content comes from this server, and requests go to no other; `data:` is for the library's icons. The library
 * inserts style sheets and `style` attributes. Hashes were tried in the place of 'unsafe-inline': five are enough
 * to read the page, and others are missed once its client is used. Such a style can load nothing from elsewhere.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Runs before the library, which would try whether the policy permits eval: browsers report that as a violation. */
const PREPARE = 'globalThis.__zod_globalConfig = { jitless: true };\n';

/** A webhook has the library's button, too, but cannot be requested of this server. */
const STYLE = `section[id*='/webhook/'] .show-api-client-button { display: none; }
`;

/**
 * Starts the library. It switches off what the library would load from its vendor (fonts, usage counts, an
 * assistant, a proxy for requests). A key that is typed into the page is in its memory only.
 */
const start = (documentUrl: string) => `Scalar.createApiReference('#docs', {
  url: '${documentUrl}',
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  hideModels: true,
  hiddenClients: true,
  documentDownloadType: 'none',
  generateOperationSlug: ({ operationId }) => operationId,
});
`;

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

/** The browser asks each time whether its copy is still the current one. */
const REVALIDATE = 'no-cache';
/** The URL names the version of its content, so the content of the URL never changes. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * Serves the OpenAPI document, and the page that shows it, to GET without a key. Redirects `/` to the page.
 *
 * @param publicPath as `publicPathOf` returns it
 */
export function documentation(
  document: OpenApiDocument,
  operations: readonly Operation[],
  publicPath: string,
): Router {
  const published = publishedDocument(document, operations, publicPath);
  const json = new StaticFile(JSON_UTF8_TYPE, JSON.stringify(published));
  const files = loadFiles(pageDocument(published));
  const page = new StaticFile('text/html; charset=utf-8', pageOf(files));
  return new Router(STRICT_ROUTES)
    .get(DOCUMENT_PATH, (ctx) => json.send(ctx, REVALIDATE))
    .get('/', (ctx) => ctx.redirect(`${publicPath}/docs`))
    .get('/docs', (ctx) => {
      ctx.set('Content-Security-Policy', POLICY);
      return page.send(ctx, REVALIDATE);
    })
    .get('/docs/:file', (ctx) => {
      requireDecodable([{ name: 'file' }], ctx.captures ?? []);
      const file = files.get(ctx.params.file ?? '');
      if (file === undefined) throw notFound('route_not_found', 'there is no such page');
      return file.send(ctx, ctx.querystring === `v=${file.version}` ? IMMUTABLE : REVALIDATE);
    });
}

/** The files that the page loads, by name. */
function loadFiles(shown: OpenApiDocument): ReadonlyMap<string, StaticFile> {
  const document = new StaticFile(JSON_UTF8_TYPE, JSON.stringify(shown));
  return new Map([
    ['page.css', new StaticFile('text/css; charset=utf-8', STYLE)],
    ['prepare.js', new StaticFile(SCRIPT_TYPE, PREPARE)],
    ['scalar.js', new StaticFile(SCRIPT_TYPE, readFileSync(new URL(LIBRARY_SCRIPT, LIBRARY)))],
    ['start.js', new StaticFile(SCRIPT_TYPE, start(urlOf('openapi.json', document)))],
    ['openapi.json', document],
  ]);
}

/** The URL of a file, relative to the page; it names the version of the file's content. */
function urlOf(name: string, file: StaticFile | undefined): string {
  return `docs/${name}?v=${file?.version}`;
}

/** The page, whose links name the versions of the files that it loads. */
function pageOf(files: ReadonlyMap<string, StaticFile>): string {
  const link = (name: string) => urlOf(name, files.get(name));
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Creditlane API</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${link('page.css')}">
</head>
<body>
  <div id="docs"></div>
  <noscript>This page needs JavaScript; the document itself is at <a href="${DOCUMENT_PATH.slice(1)}">${DOCUMENT_PATH}</a>.</noscript>
  <script src="${link('prepare.js')}"></script>
  <script src="${link('scalar.js')}"></script>
  <script src="${link('start.js')}"></script>
</body>
</html>
`;
}
