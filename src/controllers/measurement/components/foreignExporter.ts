import type { V1Container, V1DaemonSet } from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS } from '../../../runtime/client/resources.ts';
import { isMost, type Proof, type ProofContext, type ExternalProvider } from '../../contract/builtIn.ts';

/** Arguments of kube-rbac-proxy, and of a node_exporter that serves HTTPS or requires a password. */
const SECURED = /^--(secure-listen-address|web\.config\.file)\b/;
/** Parts of image names: `node_exporter` in older images. */
const IMAGES = ['node-exporter', 'node_exporter'];
/** Longest image reference that is looked at, in characters. Registries allow about 512 with tag and digest. */
const MOST_OF_IMAGE = 1_024;
/** The metrics of one collector: `collect[]` is a parameter of node_exporter, which otherwise answers with some hundred KiB. */
const NETDEV = '/metrics?collect%5B%5D=netdev';
/** The address on which a node_exporter listens, except one that only its own node reaches, as behind kube-rbac-proxy. */
const LISTENS = /^--web\.listen-address=(?!127\.|localhost|\[::1\]).*:(\d+)$/;

/**
 * Finds a node-exporter that the stack does not manage: a DaemonSet whose pods use the host network and listen on the port. It is recognized by the port,
 * which it would block for a second exporter; with an existing Prometheus, which scrapes it already, also by its image, on any port.
 *
 * Without such a DaemonSet, systemd or a pod of another kind may run the program: then its metrics show it.
 *
 * @param isScraped whether the operator's own Prometheus has to scrape it: this Prometheus has no token, and speaks plain HTTP
 * @param ownPods selects the pods of the operator's own node-exporter
 */
export function foreignExporter(port: number, isScraped: boolean, ownPods: string): ExternalProvider {
  return {
    resource: DAEMONSETS,
    sought: `a DaemonSet with hostNetwork and the port ${port}`,
    mayMatch: isOfHost,
    matches: (live, used) => listenerOf(live, port) !== undefined || (used.has('Prometheus') && hasImage(live)),
    proof: proofOf,
    problem(live, used) {
      const listener = listenerOf(live, port);
      const isOurs = isScraped && !used.has('Prometheus');
      return isOurs && listener !== undefined && isSecured(listener, port) ? unusable(port) : undefined;
    },
    listener: { port, path: NETDEV, contains: 'node_network_receive_bytes_total', ownPods },
  };
}

/** Time in which Kubernetes creates the pods of a DaemonSet, ms. It creates some hundred in a second. */
const NEW_MS = 60_000;

/**
 * Whether the pods of a DaemonSet are Ready on most nodes. Its status is written by Kubernetes alone.
 *
 * | the status                                                | proof    |
 * |-----------------------------------------------------------|----------|
 * | missing, or of an older generation                        | Starting |
 * | pods of the present template on most nodes, Ready on most | Proven   |
 * | pods on most nodes                                        | Starting |
 * | pods are desired on most nodes, by a new DaemonSet        | Starting |
 * | pods of the present template on some nodes, Ready on one  | Few      |
 * | anything else, such as no pods                            | Unproven |
 *
 * Only the present template is known to have the network of the node: pods of an older one may not have it.
 */
function proofOf({ metadata, status }: V1DaemonSet, { nodes, now }: ProofContext): Proof {
  if ((status?.observedGeneration ?? -1) < (metadata?.generation ?? 0)) {
    return { is: 'Starting', lack: 'has no status of its generation yet' };
  }
  const { numberReady = 0, updatedNumberScheduled = 0, currentNumberScheduled = 0 } = status ?? {};
  const isNew = now - new Date(metadata?.creationTimestamp ?? 0).getTime() < NEW_MS;
  const placed = isNew ? (status?.desiredNumberScheduled ?? 0) : currentNumberScheduled;
  const ready = Math.min(numberReady, updatedNumberScheduled);
  if (isMost(ready, nodes)) return { is: 'Proven' };
  const lack = `has Ready pods on ${ready} of ${nodes} nodes that can be measured, and needs more than half`;
  if (isMost(placed, nodes)) return { is: 'Starting', lack };
  return { is: ready > 0 ? 'Few' : 'Unproven', lack };
}

function isOfHost({ spec }: V1DaemonSet): boolean {
  return spec?.template.spec?.hostNetwork === true;
}

function hasImage(live: V1DaemonSet): boolean {
  const containers = live.spec?.template.spec?.containers ?? [];
  return isOfHost(live) && containers.some(({ image = '' }) => isExporter(image));
}

/** Whether an image is a node-exporter, in any registry. Kubernetes limits neither its length nor its characters. */
function isExporter(image: string): boolean {
  if (image.length > MOST_OF_IMAGE) return false;
  const name = image.slice(image.lastIndexOf('/') + 1);
  return IMAGES.some((one) => name.includes(one));
}

/** Returns the container that listens on a port of the nodes. */
function listenerOf(live: KubeObject, port: number): V1Container | undefined {
  const containers = (live as V1DaemonSet).spec?.template.spec?.containers ?? [];
  return isOfHost(live) ? containers.find((each) => listensOn(each, port)) : undefined;
}

/** Whether a container listens on a port. The port need not be declared: with hostNetwork it is open anyway. */
function listensOn(container: V1Container, port: number): boolean {
  return (
    portsOf(container, port).length > 0 || wordsOf(container).some((word) => LISTENS.exec(word)?.[1] === `${port}`)
  );
}

function wordsOf({ command = [], args = [] }: V1Container): string[] {
  return [...command, ...args];
}

function portsOf({ ports = [] }: V1Container, port: number) {
  return ports.filter(
    ({ containerPort, hostPort, protocol = 'TCP' }) =>
      protocol === 'TCP' && (containerPort === port || hostPort === port),
  );
}

function isSecured(container: V1Container, port: number): boolean {
  const isHttps = portsOf(container, port).some(({ name }) => name === 'https');
  return isHttps || wordsOf(container).some((word) => SECURED.test(word));
}

function unusable(port: number): string {
  return `serves the port ${port} over HTTPS or to clients with a token alone, so the Prometheus of the operator cannot scrape it: set another nodeExporter.port with the mode Managed, or query a Prometheus that scrapes it, with --prometheus-url (prometheus.url in the chart)`;
}
