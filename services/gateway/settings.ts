/** The settings of the gateway. */
import { HOST } from '@creditlane/rpc/serve';
import { type SettingValues, setting } from '@creditlane/runtime/setting';
import { parsePublicUrl } from './public-url.ts';

/** A link that begins with it leads each client to the client's own machine. */
export const DEFAULT_PUBLIC_URL = 'http://127.0.0.1:8080';

export const SETTINGS = {
  host: HOST,
  port: setting.port('PORT', { default: 8080, about: 'The port of the REST interface.' }),
  publicUrl: setting.parsed('PUBLIC_URL', parsePublicUrl, {
    type: 'URL',
    default: DEFAULT_PUBLIC_URL,
    about:
      'Where clients reach this server, without `/v1`. A proxy that serves it below a path of its own takes that path off each request, and the path is part of this URL: `https://www.example.com/creditlane`. Links in answers begin with it, such as those to the PDF of a credit file. With the default they open nothing on other machines; the gateway warns of it at start.',
  }),
  rateLimit: setting.all({
    requests: setting.integer('RATE_LIMIT_REQUESTS', {
      default: 10_000,
      min: 1,
      max: 1_000_000_000,
      about:
        'Requests that each key may make in RATE_LIMIT_WINDOW, over all replicas, unless its integration has a limit of its own.',
    }),
    windowMs: setting.durationMs('RATE_LIMIT_WINDOW', {
      default: '1s',
      min: '1s',
      max: '1d',
      about: 'The time in which a quota of RATE_LIMIT_REQUESTS is regained, continuously.',
    }),
  }),
  deadlineMs: setting.durationMs('REQUEST_DEADLINE', {
    default: '10s',
    min: '100ms',
    max: '60s',
    about:
      'How long a request may take before it is answered with 503. A lookup of its key or grants, which other requests may share, has five seconds in any case.',
  }),
  maxUnderWay: setting.integer('MAX_REQUESTS_UNDER_WAY', {
    default: 1_000,
    min: 1,
    about:
      'Requests under way at the same time; one more is answered with 503. A caller may have as many as are left.',
  }),
  accessCacheMs: setting.durationMs('ACCESS_CACHE_TIME', {
    default: '4s',
    min: '0ms',
    // A revoked key or grant is promised to stop within 5 s; the rest is for the call itself.
    max: '4500ms',
    about: 'How long a key, a grant, or the lack of one is cached.',
  }),
  graceMs: setting.durationMs('CLOSE_GRACE', {
    default: '21s',
    min: '0ms',
    max: '60s',
    about:
      'How long requests under way may go on once the gateway closes; a test event takes up to 20 s. The Helm chart lets the pods take 11 s longer to close.',
  }),
};

export type GatewaySettings = SettingValues<typeof SETTINGS>;
