import { until } from '../../harness/measured.ts';
import { labUp, shape } from '../../lab/lab.ts';
import { helmInstall, provideImage } from '../../scenario/install.ts';
import { kubectl } from '../../scenario/kubectl.ts';
import { labels } from '../../scenario/nodeLabels.ts';
import { hasSentAbove } from '../../scenario/prometheus.ts';
import { startTraffic } from '../../scenario/traffic.ts';

/** Two nodes stay for the replicas that avoid the full one. */
export const NODES = ['node1', 'node2', 'node3'] as const;
export const FULL = 'node2';
const RECEIVER = 'node3';
/** Narrow enough for two cores to fill. The virtual links report 10 Gbit/s. */
const LINK = { tc: '100mbit', annotation: '100Mbit' };
/** Three quarters of the link. */
const FULL_BYTES_PER_SECOND = 9.4e6;
/** A label follows the traffic after 15 to 35 s; the rest is slack for a busy machine: ms. */
const LABELLED_WITHIN = { timeout: 180_000, every: 1_000 };

/** Starts the lab with narrow links, and installs the operator as the README does. */
export async function startCluster(): Promise<void> {
  await labUp({ nodes: NODES.length });
  for (const node of NODES) {
    await shape(node, LINK.tc);
    await kubectl('annotate', 'node', node, `traffic.example.com/capacity=${LINK.annotation}`);
  }
  await provideImage();
  await helmInstall();
}

/** Fills the link of FULL, and waits until Prometheus and the labels of the watches say so. */
export async function saturate(watches: readonly string[]): Promise<void> {
  await startTraffic(FULL, RECEIVER);
  await until(`${FULL} sends`, () => hasSentAbove(FULL, FULL_BYTES_PER_SECOND), LABELLED_WITHIN);
  await untilLabelled(watches, [FULL]);
}

/** Waits until these nodes are labelled unfit and all others fit. */
export async function untilLabelled(watches: readonly string[], unfit: readonly string[]): Promise<void> {
  for (const watch of watches) {
    const isLabelled = async (): Promise<boolean> =>
      Object.entries(await labels(watch)).every(([node, value]) => value === String(unfit.includes(node)));
    await until(`the labels of ${watch} are true on ${unfit.join(' ') || 'no node'}`, isLabelled, LABELLED_WITHIN);
  }
}
