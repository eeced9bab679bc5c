import type { V1Deployment } from '@kubernetes/client-node';
import type { Client } from '../../../src/runtime/client/client.ts';
import { DAEMONSETS, DEPLOYMENTS, STATEFULSETS } from '../../../src/runtime/client/resources.ts';

/** The image of the first container of a workload of any kind, as it is. */
export async function imageIn(client: Pick<Client, 'list'>, name: string): Promise<string | undefined> {
  const kinds = [STATEFULSETS, DEPLOYMENTS, DAEMONSETS];
  const lists = await Promise.all(kinds.map((resource) => client.list<V1Deployment>(resource)));
  const live = lists.flat().find(({ metadata }) => metadata?.name === name);
  return live?.spec?.template.spec?.containers[0]?.image;
}
