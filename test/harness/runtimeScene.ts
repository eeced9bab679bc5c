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

/** LOG_LEVEL=debug shows what the transport and the informers do. */
const logger = createLogger(process.env.LOG_LEVEL ?? 'silent');

/** A transport with what it told of itself. */
export interface Connected {
  transport: Transport;
  client: Client;
  metrics: RecordedMetrics;
}

/** @param server another address for the same API server: that of a proxy before it */
export function connect(plane: ControlPlane, options: Partial<TransportOptions> = {}, server?: string): Connected {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(plane.kubeconfig);
  if (server !== undefined) kubeConfig.clusters = kubeConfig.clusters.map((cluster) => ({ ...cluster, server }));
  const metrics = recordMetrics();
  const transport = createTransport({ kubeConfig, logger, metrics, ...options });
  return { transport, client: createClient(transport), metrics };
}

/** A running informer of config maps, and what it told. */
export interface Observed {
  informer: Informer<V1ConfigMap>;
  /** 'add a', 'update a', 'delete a' */
  told: string[];
  /** How often a complete list was taken over. */
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
