import type { KubeConfig } from '@kubernetes/client-node';

/** Where the API server is. */
export interface Server {
  /** 'https://10.96.0.1:443' */
  origin: string;
  /** '' or '/k8s/clusters/c-1': some gateways serve several clusters below one address. */
  basePath: string;
}

/** @throws Error when there is no current cluster, its address cannot be read, or it wants a proxy */
export function serverOf(kubeConfig: KubeConfig): Server {
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null) throw new Error(`kubeconfig: no cluster for context "${kubeConfig.currentContext}"`);
  if (cluster.proxyUrl !== undefined && cluster.proxyUrl !== '') {
    throw new Error(`kubeconfig: cluster "${cluster.name}" has a proxy-url, which is not supported`);
  }
  if (!URL.canParse(cluster.server)) throw new Error(`kubeconfig: "${cluster.server}" is not the URL of a server`);
  const url = new URL(cluster.server);
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
}
