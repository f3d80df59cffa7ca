/** Which IP addresses are on the public internet. Webhooks are sent to these only. */
import { BlockList, isIPv4, isIPv6 } from 'node:net';

// IANA's special-purpose registries, and addresses at which cloud providers serve metadata.
const NON_PUBLIC_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and metadata at 100.100.100.200
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's platform service on a public address
  '169.254.0.0/16', // link-local, and metadata at 169.254.169.254
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
];

// Global unicast is 2000::/3. All other addresses are not public: loopback, mapped and compatible IPv4, NAT64 (64:ff9b::/96 and 64:ff9b:1::/48), unique local, link-local, multicast.
const NON_PUBLIC_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which embeds an IPv4 address
  '3fff::/20', // documentation
];

/** The public addresses as CIDR blocks with exceptions, for firewalls. They include ISATAP addresses, which have no block. */
export const PUBLIC_ADDRESS_BLOCKS = [
  { cidr: '0.0.0.0/0', except: NON_PUBLIC_IPV4 },
  { cidr: '2000::/3', except: NON_PUBLIC_IPV6 },
] as const;

const nonPublic = new BlockList();
for (const subnet of NON_PUBLIC_IPV4) addSubnet(nonPublic, subnet, 'ipv4');
for (const subnet of NON_PUBLIC_IPV6) addSubnet(nonPublic, subnet, 'ipv6');
const globalUnicast = new BlockList();
addSubnet(globalUnicast, '2000::/3', 'ipv6');
const loopback = new BlockList();
addSubnet(loopback, '127.0.0.0/8', 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether the text is an IP address on the public internet. False for a text that is no IP address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !nonPublic.check(address, 'ipv4');
  // A zone id ("fe80::1%eth0") only makes sense for addresses that are not global.
  if (!isIPv6(address) || address.includes('%')) return false;
  return (
    globalUnicast.check(address, 'ipv6') && !nonPublic.check(address, 'ipv6') && !isIsatap(address)
  );
}

/** Whether the text is a loopback address. An IPv4 address in IPv6 notation does not count. */
export function isLoopbackAddress(address: string): boolean {
  if (isIPv4(address)) return loopback.check(address, 'ipv4');
  return isIPv6(address) && canonical(address) === '::1';
}

/** ISATAP (RFC 5214) embeds an IPv4 address after 0:5efe or 200:5efe under any prefix. */
function isIsatap(address: string): boolean {
  const groups = canonical(address).split(':');
  // "::" stands for the missing groups, which are zero.
  const gap = groups.indexOf('');
  if (gap >= 0) groups.splice(gap, 1, ...new Array(9 - groups.length).fill('0'));
  return groups[5] === '5efe' && (groups[4] === '0' || groups[4] === '200');
}

/** The IPv6 address in the canonical form of the URL standard. */
function canonical(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

function addSubnet(list: BlockList, subnet: string, family: 'ipv4' | 'ipv6'): void {
  const [network = '', prefix] = subnet.split('/');
  list.addSubnet(network, Number(prefix), family);
}
