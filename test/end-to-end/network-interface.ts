/** The interface of a network namespace, with its own addresses. */
import { run } from '../programs/run.ts';

/** Makes the interfaces `<name>0`, which has the addresses, and `<name>1`, its other end, in an empty network namespace. */
export async function makeInterface(name: string, addresses: readonly string[]): Promise<void> {
  const ip = (...args: string[]) => run('ip', args);
  const [first, second] = [`${name}0`, `${name}1`];
  await ip('link', 'add', first, 'type', 'veth', 'peer', 'name', second);
  for (const address of addresses) await ip('address', 'add', address, 'dev', first);
  for (const it of ['lo', first, second]) await ip('link', 'set', it, 'up');
}
