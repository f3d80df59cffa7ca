// The messages of URLs that the egress rules refuse.
import type { EgressPolicy } from './destination-url.ts';

/** What a URL must be that was refused with this code of an EgressDeniedError, as the message of a field. */
export function describeRefusal(code: string, { ports, allowHttp }: EgressPolicy): string {
  switch (code) {
    case 'url_malformed':
      return 'must be an absolute URL';
    case 'host_not_canonical':
      return 'must spell its host as it is looked up, such as hooks.example.com or 192.0.2.1';
    case 'host_name_invalid':
      return 'must have a host name of letters, digits and hyphens between single dots, without a final dot';
    case 'scheme_not_allowed':
      return allowHttp ? 'must begin with http:// or https://' : 'must begin with https://';
    case 'credentials_in_url':
      return 'must not hold a user name or password';
    case 'port_not_allowed':
      return `must have one of the ports ${ports.join(', ')}`;
    case 'host_not_listed':
      return 'must have one of the hosts that are set for this installation';
    default:
      return 'must lead to a public name or address';
  }
}
