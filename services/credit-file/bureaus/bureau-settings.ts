/** The settings of the bureaus: where inquiries are sent to, how, and what an account with a bureau determines. */
import { validateHeaderValue } from 'node:http';
import { egressPolicySetting } from '@creditlane/egress-rules/egress-policy';
import { refuse } from '@creditlane/runtime/env';
import { type Setting, type SettingValues, setting } from '@creditlane/runtime/setting';
import { readCodeTables } from './answer/code-tables.ts';
import { parseXml } from './answer/xml-document.ts';
import { SOURCES, type Source } from './bureau.ts';
import { clientCertificateSetting } from './transport/client-certificate.ts';
import { compileTemplate } from './transunion/request-template.ts';

const ENABLED = setting.parsed('BUREAUS', parseBureaus, {
  type: '`EQUIFAX` and `TRANSUNION`, separated by commas',
  default: 'EQUIFAX,TRANSUNION',
  about: 'The bureaus that are asked; TRANSUNION needs TRANSUNION_REQUEST_TEMPLATE.',
});

const REQUEST_TEMPLATE = setting.parsed('TRANSUNION_REQUEST_TEMPLATE', parseTemplate, {
  type: 'XML with placeholders',
  default: '',
  about:
    'The request to TransUnion, whose format is known to subscribers only; needed where `BUREAUS` names TRANSUNION.',
});

/** Empty only for a service that does not ask TransUnion. */
const requestTemplate: Setting<string> = {
  variables: REQUEST_TEMPLATE.variables,
  read(env) {
    const template = REQUEST_TEMPLATE.read(env);
    if (template !== '' || ENABLED.read(env)?.includes('TRANSUNION') !== true) return template;
    const needed = 'set, because BUREAUS names TRANSUNION; BUREAUS=EQUIFAX asks Equifax alone';
    // The variable has no text to parse, so the refusal is that of its default.
    return env.refused('TRANSUNION_REQUEST_TEMPLATE', needed);
  },
};

export const BUREAU_SETTINGS = {
  enabled: ENABLED,
  egress: egressPolicySetting('BUREAU'),
  hosts: setting.parsed('BUREAU_HOSTS', parseHosts, {
    type: 'host names separated by commas',
    default: '',
    about:
      'The hosts that credentials may name, which may have private addresses; if empty, any public host.',
  }),
  deadlineMs: setting.durationMs('BUREAU_DEADLINE', {
    default: '20s',
    min: '1s',
    max: '120s',
    about:
      'How long an inquiry may take once it has its access token and its turn. It must have been sent in half of that time, and waits as long as that half for the token and the turn. The Helm chart lets the pods take 12 s longer to close.',
  }),
  maxConnections: setting.integer('BUREAU_CONNECTIONS', {
    default: 16,
    min: 1,
    max: 256,
    about:
      'The most connections of one process to one base URL of a bureau, beside two for access tokens.',
  }),
  failuresToOpen: setting.integer('BUREAU_FAILURES_TO_OPEN', {
    default: 5,
    min: 1,
    max: 1_000_000,
    about:
      'How many failures in a row at one base URL of a bureau stop inquiries there for a while (circuit breaker).',
  }),
  codeTables: setting.parsed('BUREAU_CODE_TABLES', readCodeTables, {
    type: 'YAML',
    default: '',
    about: "Entries that replace those of the bureaus' code tables, by bureau and table.",
  }),
  partialDateDay: setting.integer('BUREAU_PARTIAL_DATE_DAY', {
    default: 1,
    min: 1,
    max: 28,
    about: 'The day of a date for which a bureau gives year and month only.',
  }),
  equifax: setting.all({
    reportRule: setting.oneOf('EQUIFAX_REPORT_RULE', ['FIRST_HIT', 'FIRST'], {
      default: 'FIRST_HIT',
      about:
        'Which of several reports may be the file: the first hit about the applicant, else the first without a hit; or the first report alone.',
    }),
    tokenUrl: setting.parsed('EQUIFAX_TOKEN_URL', parseTokenUrl, {
      type: 'URL',
      default: 'oauth/token',
      about: 'Where access tokens are asked for; relative to the base URL of the credentials.',
    }),
    tokenScope: setting.string('EQUIFAX_TOKEN_SCOPE', {
      default: '',
      about: 'The scope of access tokens; none if empty.',
    }),
    inputHeader: setting.string('EQUIFAX_INPUT_HEADER', {
      default: '',
      about: 'Text before the XML of a request, which some accounts need.',
    }),
    referenceLength: setting.integer('EQUIFAX_REFERENCE_LENGTH', {
      default: 7,
      min: 4,
      max: 36,
      about:
        "How many characters of the pull's id are sent as CustomerReferenceNumber, which answers repeat: its last ones.",
    }),
    outputXml: setting.parsed('EQUIFAX_OUTPUT_XML', parseOutputXml, {
      type: 'elements of XML',
      // Codes that are not in the tables are read by their descriptions, which therefore have to be English.
      default: '<CNOutputParameters><Language>EN</Language></CNOutputParameters>',
      about:
        'The elements at the end of CNRequests, which say which form and scores the account has.',
    }),
    soapNamespace: setting.string('EQUIFAX_SOAP_NAMESPACE', {
      default: 'http://www.equifax.ca/STSRequest',
      about: 'The namespace of the operation Submit.',
    }),
  }),
  transUnion: setting.all({
    requestTemplate,
    clientCertificate: clientCertificateSetting('TRANSUNION'),
    product: setting.string('TRANSUNION_PRODUCT', {
      default: '',
      about: 'The value of the placeholder `product`.',
    }),
    certificate: setting.string('TRANSUNION_CERTIFICATE', {
      default: '',
      about: 'The value of the placeholder `certificate`.',
    }),
    paymentPattern: setting.oneOf('TRANSUNION_PAYMENT_PATTERN', ['NEWEST_FIRST', 'OLDEST_FIRST'], {
      default: 'NEWEST_FIRST',
      about:
        'Whether the payment pattern of a trade begins with the newest month, at its start date, and goes back, or with the oldest.',
    }),
    contentType: setting.parsed('TRANSUNION_CONTENT_TYPE', parseHeaderValue, {
      type: 'text',
      default: 'text/xml; charset=utf-8',
      about: 'The content type of a request.',
    }),
    soapAction: setting.parsed('TRANSUNION_SOAP_ACTION', parseHeaderValue, {
      type: 'text',
      default: '',
      about: 'The header SOAPAction of a request; none if empty.',
    }),
  }),
};

export type BureauSettings = SettingValues<typeof BUREAU_SETTINGS>;

function parseHosts(text: string): string[] {
  const hosts = text
    .split(',')
    .map((host) => host.trim())
    .filter(Boolean);
  for (const host of hosts) {
    if (URL.parse(`https://${host}`)?.hostname !== host) refuse('host names such as a.example');
  }
  return hosts;
}

function parseBureaus(text: string): Source[] {
  const names = text.split(',').map((name) => name.trim());
  const known = SOURCES.filter((source) => names.includes(source));
  return known.length === names.length ? known : refuse('EQUIFAX, TRANSUNION, or both, each once');
}

/** Checks at start that the text leads to an address, whatever the base URL is. */
function parseTokenUrl(text: string): string {
  const protocol = URL.parse(text, 'https://bureau.example/')?.protocol ?? '';
  if (['https:', 'http:'].includes(protocol)) return text;
  return refuse('an https URL, or a path below the base URL of the credentials');
}

function parseHeaderValue(text: string): string {
  try {
    validateHeaderValue('value', text);
    return text;
  } catch {
    return refuse('one line of text, as the value of a header');
  }
}

/** Checks at start that the text can stand in the XML of a request. */
function parseOutputXml(text: string): string {
  parseXml(`<CNRequests>${text}</CNRequests>`);
  return text;
}

/** Checks the template at start. */
function parseTemplate(text: string): string {
  if (text !== '') compileTemplate(text);
  return text;
}
