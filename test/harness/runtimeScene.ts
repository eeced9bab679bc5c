import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { createClient } from '../../src/runtime/client/client.ts';
import type { Client } from '../../src/runtime/client/client.ts';
import { createInformer } from '../../src/runtime/cache/informer.ts';
import type { Informer, InformerOptions, ReflectorMetrics } from '../../src/runtime/cache/informer.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import { CONFIG_MAPS } from '../../src/runtime/client/resources.ts';
import { recordMetrics } from '../../src/runtime/testing/scene.ts';
import type { RecordedMetrics } from '../../src/runtime/testing/scene.ts';
import { createTransport } from '../../src/runtime/client/transport.ts';
import type { Transport, TransportOptions } from '../../src/runtime/client/transport.ts';
import type { ControlPlane } from './controlPlane.ts';

/** LOG_LEVEL=debug shows the log of the transport and the informers. */
const logger = createLogger(process.env.LOG_LEVEL ?? 'silent');

/** A transport and its metrics. */
export interface Connected {
  transport: Transport;
  client: Client;
  metrics: RecordedMetrics;
}

/** @param server another address of the same API server: the address of a proxy */
export function connect(plane: ControlPlane, options: Partial<TransportOptions> = {}, server?: string): Connected {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(plane.kubeconfig);
  if (server !== undefined) kubeConfig.clusters = kubeConfig.clusters.map((cluster) => ({ ...cluster, server }));
  const metrics = recordMetrics();
  const transport = createTransport({ kubeConfig, logger, metrics, ...options });
  return { transport, client: createClient(transport), metrics };
}

/** A running informer of ConfigMaps, and its events. */
export interface Observed {
  informer: Informer<V1ConfigMap>;
  /** 'add a', 'update a', 'delete a' */
  told: string[];
  /** Number of full lists. */
  lists: string[];
  ends: string[];
  stop(): Promise<void>;
}

export function observe(
  transport: Transport,
  namespace: string,
  options: Partial<InformerOptions<V1ConfigMap>> = {},
): Observed {
  const lists: string[] = [];
  const ends: string[] = [];
  const metrics: ReflectorMetrics = {
    listed: (_, how) => void lists.push(how),
    watchStarted: () => undefined,
    watchEnded: (_, end) => void ends.push(end),
    badLine: () => undefined,
    listenerFailed: () => undefined,
    bodyDropped: () => undefined,
    bodyMemory: () => undefined,
    objects: () => undefined,
  };
  const informer = createInformer({ transport, resource: CONFIG_MAPS, namespace, logger, metrics, ...options });
  const told: string[] = [];
  informer.subscribe(({ type, object }) => told.push(`${type} ${object.metadata?.name ?? ''}`));
  const end = new AbortController();
  const running = informer.run(end.signal);
  return {
    informer,
    told,
    lists,
    ends,
    stop() {
      end.abort();
      return running;
    },
  };
}

export const configMap = (namespace: string, name: string, text = ''): V1ConfigMap => ({
  metadata: { namespace, name },
  data: { text },
});
