import { networkInterfaces } from 'node:os';
import { readTextFile } from '../../../runtime/process/textFile.ts';

/** The MTU of the interface that has a local address; undefined if it cannot be read. */
export async function interfaceMtu(localAddress: string): Promise<number | undefined> {
  const [name] =
    Object.entries(networkInterfaces()).find(([, addresses = []]) =>
      addresses.some(({ address }) => address === localAddress),
    ) ?? [];
  // Addresses such as 127.0.0.2 belong to loopback as well, but are not listed.
  const found = name ?? (localAddress.startsWith('127.') ? 'lo' : undefined);
  return found === undefined ? undefined : mtuOf(found);
}

async function mtuOf(name: string): Promise<number | undefined> {
  try {
    const mtu = Number(await readTextFile(`/sys/class/net/${name}/mtu`));
    return Number.isInteger(mtu) && mtu > 0 ? mtu : undefined;
  } catch {
    return undefined;
  }
}
