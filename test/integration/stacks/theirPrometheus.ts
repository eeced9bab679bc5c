import { expect, vi } from 'vitest';
import { NAMESPACES, SERVICES } from '../../../src/runtime/client/resources.ts';
import { withNodeOptions } from '../../harness/nodeOptions.ts';
import { WAIT, type StackScene } from './scene.ts';

/** The Service of a Prometheus of another owner, with the labels that prometheus-operator gives it. */
export const THEIR_PROMETHEUS = { namespace: 'monitoring', name: 'prometheus-operated' };
const RESOLVE = `--import=${new URL('../../harness/resolveServices.ts', import.meta.url).href}`;

/** Installs the real Prometheus of the fixture for another owner: it is behind a Service, and has series. Also creates the namespace. */
export async function installTheirPrometheus({ f }: StackScene): Promise<void> {
  await vi.waitFor(async () => {
    const answer = await fetch(`${f.prometheusUrl}/api/v1/query?query=node_network_transmit_bytes_total`);
    expect(await answer.text()).toContain('"metric"');
  }, WAIT);
  await f.client.create(NAMESPACES, { metadata: { name: THEIR_PROMETHEUS.namespace } });
  await createTheirService({ f });
}

/** Creates its Service, also again. */
export async function createTheirService({ f }: Pick<StackScene, 'f'>): Promise<void> {
  const port = Number(new URL(f.prometheusUrl).port);
  await f.client.create(SERVICES, {
    metadata: { ...THEIR_PROMETHEUS, labels: { 'operated-prometheus': 'true' } },
    spec: { clusterIP: 'None', selector: { app: 'prometheus' }, ports: [{ name: 'web', port }] },
  });
}

/** Starts an operator to which names of Services lead to this machine. */
export function resolvingServices<R>(start: () => Promise<R>): Promise<R> {
  return withNodeOptions(RESOLVE, start);
}
