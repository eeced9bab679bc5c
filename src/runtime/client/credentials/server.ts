import type { KubeConfig } from '@kubernetes/client-node';

/** Address of the API server. */
export interface Server {
  /** 'https://10.96.0.1:443' */
  origin: string;
  /** '' or '/k8s/clusters/c-1': some gateways serve several clusters at one address. */
  basePath: string;
}

/** @throws Error if there is no current cluster, its address is invalid, or it requires a proxy */
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
