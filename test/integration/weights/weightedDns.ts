import type { ResourceRecordSet } from '@aws-sdk/client-route-53';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Resolver } from 'node:dns/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, start, whenReady } from '../../harness/process.ts';
import { binary } from '../../lab/binaries.ts';

/** An authoritative server that answers with weighted record sets as Route 53 does: by chance, in proportion. */
export interface WeightedDns {
  /** How often each address came first in so many answers. */
  sample(host: string, answers: number): Promise<Map<string, number>>;
  stop(): Promise<void>;
}

/** Starts a real CoreDNS with the A records of a name. Each set has one address, and a weight above 0. */
export async function startWeightedDns(domain: string, sets: readonly ResourceRecordSet[]): Promise<WeightedDns> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-dns-'));
  const [port] = (await freePorts(1)) as [number];
  const records = sets.map(({ Name = '', ResourceRecords, Weight }) => {
    return { name: Name, address: ResourceRecords?.[0]?.Value ?? '', weight: Weight ?? 0 };
  });
  const soa = `@ 60 IN SOA ns.${domain}. admin.${domain}. 1 60 60 60 60\n@ 60 IN NS ns.${domain}.\n`;
  const lines = records.map(({ name, address }) => `${name} 0 IN A ${address}\n`);
  const weights = records.map(({ name, address, weight }) => `${name.replace(/[.]$/, '')}\n${address} ${weight}\n`);
  await writeFile(join(directory, 'zone'), soa + lines.join(''));
  await writeFile(join(directory, 'weights'), weights.join('\n'));
  const block = `bind 127.0.0.1\nfile ${directory}/zone\nloadbalance weighted ${directory}/weights`;
  await writeFile(join(directory, 'Corefile'), `${domain}:${port} {\n${block}\n}\n`);
  const running = start(await binary('coredns'), [`-conf=${directory}/Corefile`], join(directory, 'log'));
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${port}`]);
  const [first] = records;
  const stop = async (): Promise<void> => {
    await running.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await whenReady('coredns', running, async () => (await resolver.resolve4(first?.name ?? '')).length > 0);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    async sample(host, answers) {
      const counts = new Map<string, number>();
      for (let n = 0; n < answers; n += 1) {
        const [address = ''] = await resolver.resolve4(host);
        counts.set(address, (counts.get(address) ?? 0) + 1);
      }
      return counts;
    },
    stop,
  };
}
