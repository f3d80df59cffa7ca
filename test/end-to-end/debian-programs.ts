/** The programs of Debian's packages that containers run on. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackedPackages } from '../programs/debian-packages.ts';

/** With the libraries that they need and a small Debian lacks. */
const PACKAGES = [
  'conntrack',
  'containerd',
  'containernetworking-plugins',
  'debootstrap',
  'docker.io',
  'iptables',
  'libip4tc2',
  'libip6tc2',
  'libmnl0',
  'libnetfilter-conntrack3',
  'libnfnetlink0',
  'libnftnl11',
  'libseccomp2',
  'libxtables12',
  'runc',
  'tini',
];

export interface DebianPrograms {
  /** The folder that stands for the root of the file system. */
  root: string;
  /** The environment with which the programs find each other and their libraries. */
  env: NodeJS.ProcessEnv;
}

export async function debianPrograms(): Promise<DebianPrograms> {
  const root = await unpackedPackages('debian', PACKAGES, async (folder) => {
    // The scripts of the package, which do not run here, would make these links.
    for (const name of ['iptables', 'ip6tables']) {
      for (const end of ['', '-save', '-restore']) {
        await symlink('xtables-nft-multi', join(folder, 'usr/sbin', `${name}${end}`));
      }
    }
  });
  const libraries = join(root, 'usr/lib/x86_64-linux-gnu');
  const programs = ['usr/sbin', 'usr/bin'].map((folder) => join(root, folder));
  return {
    root,
    env: {
      ...process.env,
      PATH: [...programs, process.env.PATH].join(':'),
      LD_LIBRARY_PATH: libraries,
      XTABLES_LIBDIR: join(libraries, 'xtables'),
    },
  };
}
